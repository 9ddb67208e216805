// Draws the graph whose data the page names. Titles go in as text, never as HTML.
(async () => {
  const box = document.getElementById("okf-graph");
  const data = await (await fetch(box.dataset.url)).json();
  const palette = ["#3b6fb6", "#b6583b", "#3f8f5f", "#8a5bb0", "#b08a2e", "#2e97a6", "#a8456f", "#6b7280", "#7a9a01", "#5a4fcf"];
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
      { selector: "node[!box]", style: { label: many ? "" : "data(label)", "background-color": (node) => colour.get(node.data("type")),
        width: (node) => 20 + Math.min(34, 4 * node.data("degree")), height: (node) => 20 + Math.min(34, 4 * node.data("degree")),
        color: dark ? "#ddd" : "#222", "font-size": 19, "text-wrap": "ellipsis", "text-max-width": 190, "text-valign": "bottom", "text-margin-y": 3 } },
      { selector: "node[?box]", style: { label: "data(label)", "background-opacity": 0.06, "border-width": 1, "border-color": "#999", shape: "round-rectangle", "font-size": 10, color: dark ? "#ddd" : "#222" } },
      { selector: "node[?start]", style: { "border-width": 3, "border-color": dark ? "#fff" : "#000" } },
      { selector: "edge", style: { width: 1, "line-color": "#999", "target-arrow-color": "#999", "target-arrow-shape": many ? "none" : "triangle",
        "arrow-scale": 0.7, "curve-style": many ? "haystack" : "straight", opacity: 0.6 } },
      { selector: "node.off", style: { opacity: 0.08, label: "" } },
      { selector: "node.near", style: { label: "data(label)", opacity: 1 } },
      { selector: "edge.near", style: { "line-color": "#c33", "target-arrow-color": "#c33", opacity: 1 } },
    ],
  });
  const arrange = (name) => graph.layout({ name: many && name === "cose" ? "concentric" : name, animate: false, nodeDimensionsIncludeLabels: !many,
    concentric: (node) => node.degree(), levelWidth: () => 4, randomize: true, idealEdgeLength: () => 60, nodeRepulsion: () => 12000,
    componentSpacing: 60, numIter: 1500, padding: 15, stop: widen }).run();
  // A drawing that is taller than wide is laid on its side: the box is wider than high.
  function widen() {
    const area = graph.nodes("[!box]").boundingBox({ includeLabels: false });
    if (area.h > area.w && box.clientWidth > box.clientHeight && !boxes.length) {
      graph.nodes().positions((node) => ({ x: node.position("y"), y: node.position("x") }));
    }
    graph.fit(undefined, 15);
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
  arrange(layout.value);
  box.dataset.ready = data.nodes.length;
  window.okfGraph = graph;
})();
