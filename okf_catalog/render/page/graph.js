// The graph, and the map: a box around each directory, with the links of what is chosen.
const MOST = 2000, LABELLED = 400;
const PALETTE = ["#3b6fb6", "#c2603f", "#3f8f5f", "#8a5bb0", "#b08a2e", "#2e97a6", "#a8456f", "#7a8090", "#7a9a01", "#5a4fcf", "#d98cb3", "#8f6a4a", "#5fb0e0", "#9c2f2f", "#3d5a3d", "#c9b458"];
const types = [...new Set(concepts.map((file) => file.type || "Untyped"))].sort();
const colours = new Map(types.map((type, at) => [type, PALETTE[at % PALETTE.length]]));
const colourOf = (type) => colours.get(type) || "#7a8090";
const degree = (file) => file.into.length + file.out.length;
let graph = null;

/** The concepts to draw: all, or what lies two links around one; at most `MOST`, the best linked. */
function drawn(around) {
  let shown = concepts;
  const start = byPath.get(around);
  if (start && start.kind === "concept") {
    const near = new Set([start]);
    for (let step = 0; step < 2; step++) for (const file of [...near]) for (const other of [...file.out, ...file.into]) near.add(files[other]);
    shown = [...near];
  }
  return shown.length > MOST ? [...shown].sort((a, b) => degree(b) - degree(a) || a.number - b.number).slice(0, MOST) : shown;
}

function showGraph(query, isMap) {
  const words = query.get("q") || "", found = termsOf(words).length ? search(words) : null;
  const around = query.get("around"), shown = drawn(around), there = new Set(shown.map((file) => file.number));
  const many = shown.length > LABELLED, dark = matchMedia("(prefers-color-scheme: dark)").matches, ink = dark ? "#ddd" : "#222";
  const box = make("div", { id: "graph", role: "img", "aria-label": "Graph of the concepts; the list has the same" });
  const told = make("p", { id: "told" }, isMap ? "Choose a concept to see its links." : "Choose a concept; twice opens it.");
  const layout = make("select", { "aria-label": "Layout", change: () => arrange(layout.value) }, ["cose", "concentric", "breadthfirst", "circle", "grid"].map((name) => make("option", {}, name)));
  layout.value = settings.layout || (many ? "concentric" : "cose");
  const left = shown.length < concepts.length && !around ? `The ${shown.length.toLocaleString("en")} best linked of ${count(concepts.length, "concept")}. ` : "";
  main.replaceChildren(make("div", { class: "beside" }, facets(isMap ? "map" : "graph", query, found), make("section", {},
    make("p", { class: "bar" }, `${left}${around ? "Two links around " : ""}`, around && byPath.has(around) ? link(fileAddress(byPath.get(around)), byPath.get(around).title) : "",
      isMap ? "" : layout, make("button", { type: "button", click: () => frame() }, "fit")), box, told)));

  const edges = shown.flatMap((file) => file.out.filter((target) => there.has(target)).map((target) => ({ data: { id: `${file.number}>${target}`, source: `${file.number}`, target: `${target}` } })));
  const boxes = isMap ? [...new Set(shown.map((file) => directoryOf(file.path)))].sort() : [];
  const kept = new Set(chosen(query, found)), place = isMap ? packed(shown, boxes, box.clientWidth / box.clientHeight) : null;
  graph = cytoscape({
    container: box, minZoom: 0.02, maxZoom: 4, textureOnViewport: many, hideEdgesOnViewport: many, layout: { name: "preset", fit: false },
    elements: {
      nodes: [
        ...boxes.map((path) => ({ data: { id: `/${path}`, label: path || "(root)", isBox: true }, selectable: false, grabbable: false })),
        ...shown.map((file) => ({ data: { id: `${file.number}`, label: file.title.slice(0, 80), parent: isMap ? `/${directoryOf(file.path)}` : undefined, colour: colourOf(file.type || "Untyped"), size: 18 + Math.min(34, 4 * degree(file)), start: file.path === around }, classes: kept.has(file) ? "" : "off", position: place && place(file) })),
      ],
      edges: isMap ? [] : edges,
    },
    style: [
      { selector: "node[!isBox]", style: { label: many ? "" : "data(label)", "background-color": "data(colour)", width: isMap ? 18 : "data(size)", height: isMap ? 18 : "data(size)", color: ink,
        "font-size": isMap ? 8 : 24, "text-wrap": "ellipsis", "text-max-width": isMap ? 62 : 240, "text-valign": "bottom", "text-margin-y": 3, "min-zoomed-font-size": 7 } },
      { selector: "node[?isBox]", style: { label: "data(label)", "background-opacity": 0.07, "border-width": 1, "border-color": "#999", shape: "round-rectangle", padding: 12, color: ink, "font-size": 14 } },
      { selector: "node[?start]", style: { "border-width": 4, "border-color": ink } },
      { selector: "edge", style: { width: many ? 1 : 2, "line-color": "#999", "target-arrow-color": "#999", "target-arrow-shape": many ? "none" : "triangle", "arrow-scale": 0.7, "curve-style": many ? "haystack" : "straight", opacity: many ? 0.25 : 0.6 } },
      { selector: "node.off", style: { opacity: 0.1, label: "" } },
      { selector: "node.near", style: { label: "data(label)", opacity: 1, "z-index": 9, "min-zoomed-font-size": 0 } },
      { selector: "edge.near", style: { "line-color": "#d33", "target-arrow-color": "#d33", "target-arrow-shape": "triangle", opacity: 1, width: 2, "z-index": 9 } },
    ],
  });
  graph.on("tap", "node[!isBox]", (event) => {
    const node = event.target, file = files[node.id()];
    graph.elements(".near").removeClass("near");
    if (isMap) {
      graph.edges().remove();
      graph.add(edges.filter(({ data }) => data.source === node.id() || data.target === node.id()));
    }
    node.closedNeighborhood().addClass("near");
    told.replaceChildren(link(fileAddress(file), file.title), " ", ...spaced(badges(file)), make("span", { class: "quiet" }, ` ${count(node.degree(), "link")}`));
  });
  graph.on("dbltap", "node[!isBox]", (event) => { location.hash = fileAddress(files[event.target.id()]); });

  function arrange(name) {
    if (name === "concentric" && many) {  // whole rings of equals would be a circle with nothing in it
      const places = sunflower(shown);
      graph.nodes().positions((node) => places.get(node.id()));
      return frame();
    }
    graph.layout({ name, animate: false, fit: false, nodeDimensionsIncludeLabels: !many, concentric: (node) => node.degree(), levelWidth: () => (many ? 3 : 4), minNodeSpacing: many ? 4 : 12, randomize: true,
      idealEdgeLength: () => 60, nodeRepulsion: () => 9000, componentSpacing: 50, numIter: many ? 300 : 1500, padding: 20, stop: widen }).run();
  }
  // A drawing that is taller than wide is laid on its side: the place for it is wider than high.
  function widen() {
    const area = extent();
    if (layout.value === "cose" && area.h > area.w && box.clientWidth > box.clientHeight) graph.nodes().positions((node) => ({ x: node.position("y"), y: node.position("x") }));
    frame();
  }
  function extent() {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    graph.nodes("[!isBox]").forEach((node) => {
      const { x, y } = node.position();
      [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
    });
    return { x: (left + right) / 2, y: (top + bottom) / 2, w: right - left, h: bottom - top };
  }
  // What the library's own `fit` does, without measuring every label: that takes seconds for thousands.
  function frame() {
    if (!shown.length) return;
    const area = extent(), room = isMap ? 60 : many ? 30 : 120;
    const zoom = Math.min(1.5, Math.max(0.02, Math.min(box.clientWidth / (area.w + 2 * room), box.clientHeight / (area.h + 110))));
    graph.viewport({ zoom, pan: { x: box.clientWidth / 2 - zoom * area.x, y: box.clientHeight / 2 - zoom * area.y } });
  }
  if (isMap) frame();
  else arrange(layout.value);
  box.dataset.ready = shown.length;
}

/** Places of a disc, evenly filled: the best linked in the middle. */
function sunflower(shown) {
  const STEP = 30, ANGLE = Math.PI * (3 - Math.sqrt(5));
  const order = [...shown].sort((a, b) => degree(b) - degree(a) || a.number - b.number);
  return new Map(order.map((file, at) => [`${file.number}`, { x: STEP * Math.sqrt(at + 0.5) * Math.cos(at * ANGLE) * 1.2, y: STEP * Math.sqrt(at + 0.5) * Math.sin(at * ANGLE) }]));
}

/** Places for the map: each directory a block of rows, the blocks in rows that fill a place of this ratio of width to height. */
function packed(shown, boxes, ratio) {
  const STEP = 64, ROW = 44, GAP = 70;
  const members = new Map(boxes.map((path) => [path, []])), places = new Map();
  for (const file of shown) members.get(directoryOf(file.path)).push(file);
  const blocks = boxes.map((path) => {
    const across = Math.ceil(Math.sqrt(members.get(path).length * 1.3));
    return { path, across, width: across * STEP + GAP, height: Math.ceil(members.get(path).length / across) * ROW + GAP };
  });
  const widest = Math.max(...blocks.map((block) => block.width), Math.sqrt(blocks.reduce((area, block) => area + block.width * block.height, 0) * ratio * 1.5));
  let x = 0, y = 0, high = 0;
  for (const block of blocks) {
    if (x && x + block.width > widest) [x, y, high] = [0, y + high, 0];
    members.get(block.path).forEach((file, at) => places.set(file, { x: x + (at % block.across) * STEP, y: y + Math.floor(at / block.across) * ROW }));
    x += block.width;
    high = Math.max(high, block.height);
  }
  return (file) => places.get(file);
}
