// Draws the graph whose data the page names. Titles go in as text, never as HTML.
(async () => {
  const box = document.getElementById("okf-graph");
  const data = await (await fetch(box.dataset.url)).json();
  const palette = ["#3b6fb6", "#b6583b", "#3f8f5f", "#8a5bb0", "#b08a2e", "#2e97a6", "#a8456f", "#6b7280", "#7a9a01", "#5a4fcf", "#d98cb3", "#8f6a4a", "#5fb0e0", "#9c2f2f", "#3d5a3d", "#c9b458"];
  const types = [...new Set(data.nodes.map((node) => node.type))].sort();
  const colour = new Map(types.map((type, at) => [type, palette[at % palette.length]]));
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const many = data.nodes.length > 400;
  const boxes = box.dataset.boxes ? [...new Set(data.nodes.map((node) => node.dir))] : [];
  for (const node of data.nodes) if (boxes.length) node.parent = `dir:${node.dir}`;
  const graph = cytoscape({
    container: box,
    elements: {
      nodes: [...boxes.map((dir) => ({ data: { id: `dir:${dir}`, label: dir, box: true, tags: [] } })), ...data.nodes.map((node) => ({ data: node }))],
      edges: data.edges.map((edge, at) => ({ data: { id: `e${at}`, ...edge } })),
    },
    layout: { name: "preset" },
    style: [
      { selector: "node[!box]", style: { label: "data(label)", "min-zoomed-font-size": many ? 9 : 0, "background-color": (node) => colour.get(node.data("type")),
        width: (node) => 20 + Math.min(34, 4 * node.data("degree")), height: (node) => 20 + Math.min(34, 4 * node.data("degree")),
        color: dark ? "#ddd" : "#222", "font-size": 19, "text-wrap": "ellipsis", "text-max-width": 190, "text-valign": "bottom", "text-margin-y": 3 } },
      { selector: "node[?box]", style: { label: "data(label)", "background-opacity": 0.06, "border-width": 1, "border-color": "#999", shape: "round-rectangle", "font-size": 10, color: dark ? "#ddd" : "#222" } },
      { selector: "node[?start]", style: { "border-width": 3, "border-color": dark ? "#fff" : "#000" } },
      { selector: "edge", style: { width: 1, "line-color": "#999", "target-arrow-color": "#999", "target-arrow-shape": many ? "none" : "triangle",
        "arrow-scale": 0.7, "curve-style": many ? "haystack" : "straight", opacity: many ? 0.25 : 0.6 } },
      { selector: "node.off", style: { opacity: 0.08, label: "" } },
      { selector: "node.near", style: { opacity: 1, "min-zoomed-font-size": 0, "z-index": 9 } },
      { selector: "edge.near", style: { "line-color": "#c33", "target-arrow-color": "#c33", opacity: 1 } },
    ],
  });
  const arrange = (name) => name === "directories" ? byDirectory() : graph.layout({ name, animate: false, nodeDimensionsIncludeLabels: !many,
    concentric: (node) => node.degree(), levelWidth: () => 4, randomize: true, idealEdgeLength: () => 60, nodeRepulsion: () => 12000,
    componentSpacing: 60, numIter: many ? 100 : 1500, padding: 15, stop: widen }).run();
  // Forces take minutes for thousands of nodes. This takes no time: each directory (the topmost ones where there are
  // many) is a disc, the largest first, in rows.
  function byDirectory() {
    const top = new Set(data.nodes.map((node) => node.dir)).size > 60, groups = new Map();
    for (const node of data.nodes) {
      const name = top ? node.dir.split("/")[0] : node.dir;
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(node);
    }
    const spacing = 32, radius = (group) => spacing * Math.sqrt(group.length) + 30;
    const discs = [...groups.values()].sort((one, other) => other.length - one.length);
    const width = Math.sqrt(discs.reduce((area, group) => area + 4 * radius(group) ** 2, 0) * box.clientWidth / box.clientHeight);
    let x = 0, y = 0, height = 0;
    for (const group of discs) {
      const side = 2 * radius(group);
      if (x > 0 && x + side > width) { x = 0; y += height; height = 0; }
      group.sort((one, other) => other.degree - one.degree).forEach((node, at) => graph.getElementById(node.id).position({
        x: x + side / 2 + spacing * Math.sqrt(at) * Math.cos(at * 2.39996), y: y + side / 2 + spacing * Math.sqrt(at) * Math.sin(at * 2.39996) }));
      x += side;
      height = Math.max(height, side);
    }
    fill();
  }
  // As large as the box allows. The library's own fit leaves room for the labels in full, and those are cut short.
  function fill() {
    if (boxes.length) { graph.fit(undefined, 15); return; }
    const xs = graph.nodes().map((node) => node.position("x")), ys = graph.nodes().map((node) => node.position("y"));
    const least = (list) => list.reduce((one, other) => Math.min(one, other), Infinity), most = (list) => -least(list.map((one) => -one));
    const zoom = Math.min(2, (box.clientWidth - 140) / Math.max(most(xs) - least(xs), 1), (box.clientHeight - 70) / Math.max(most(ys) - least(ys), 1));
    graph.viewport({ zoom, pan: { x: (box.clientWidth - zoom * (least(xs) + most(xs))) / 2, y: (box.clientHeight - zoom * (least(ys) + most(ys))) / 2 - 8 } });
    // Names that can be read, however large the drawing; one of thousands is named when it is clicked or the drawing enlarged.
    if (!many) graph.style().selector("node[!box]").style({ "font-size": 11 / zoom, "text-max-width": 105 / zoom }).update();
    else graph.style().selector("node[!box]").style({ width: (node) => (5 + Math.min(7, node.data("degree") / 2)) / zoom, height: (node) => (5 + Math.min(7, node.data("degree") / 2)) / zoom })
      .selector("node.near").style({ "font-size": 12 / zoom, "text-max-width": 120 / zoom }).update();
  }
  // A drawing that is taller than wide is laid on its side: the box is wider than high.
  function widen() {
    const area = graph.nodes("[!box]").boundingBox({ includeLabels: false });
    if (area.h > area.w && box.clientWidth > box.clientHeight && !boxes.length) {
      graph.nodes().positions((node) => ({ x: node.position("y"), y: node.position("x") }));
    }
    fill();
  }
  const about = document.getElementById("okf-about");
  graph.on("tap", "node[!box]", (event) => {
    const node = event.target;
    graph.elements().removeClass("near");
    node.closedNeighborhood().addClass("near");
    const link = document.createElement("a");
    link.href = node.data("url");
    link.textContent = node.data("label");
    about.replaceChildren(link, ` (${node.data("type")}, ${node.data("trust")}, ${node.degree()} links)`);
  });
  graph.on("dbltap", "node[!box]", (event) => location.assign(event.target.data("url")));
  const tags = document.getElementById("okf-tag");
  for (const tag of [...new Set(data.nodes.flatMap((node) => node.tags))].sort()) tags.append(new Option(tag, tag));
  tags.addEventListener("change", () => graph.nodes("[!box]").forEach((node) =>
    node.toggleClass("off", tags.value !== "" && !node.data("tags").includes(tags.value))));
  const layout = document.getElementById("okf-layout");
  layout.addEventListener("change", () => arrange(layout.value));
  const legend = document.getElementById("okf-types");
  for (const type of types) {
    const item = document.createElement("li"), dot = document.createElement("i");
    dot.style.background = colour.get(type);
    item.append(dot, type);
    legend.append(item);
  }
  if (many && layout.value === "cose") layout.value = "directories";
  arrange(layout.value);
  addEventListener("resize", () => { graph.resize(); fill(); });
  box.dataset.ready = data.nodes.length;
  window.okfGraph = graph;
})();
