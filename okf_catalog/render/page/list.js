// The list of concepts beside the facets. What is chosen stands in the address, so it can be kept and sent.
const FACETS = {
  type: ["Type", (file) => (file.kind === "concept" ? [file.type || "Untyped"] : [])],
  status: ["Status", (file) => (file.status ? [file.status] : [])],
  trust: ["Trust", (file) => (file.trust ? [file.trust] : [])],
  fresh: ["Freshness", (file) => (file.kind === "concept" ? [freshness(file)] : [])],
  tag: ["Tag", (file) => file.tags || []],
  dir: ["Directory", (file) => [file.path.includes("/") ? file.path.slice(0, file.path.indexOf("/") + 1) : "(root)"]],
};
const ORDERS = {
  best: ["best first", null],
  path: ["by path", (a, b) => a.number - b.number],
  title: ["by title", (a, b) => a.title.localeCompare(b.title) || a.number - b.number],
  links: ["most linked", (a, b) => b.into.length - a.into.length || a.number - b.number],
  stale: ["stale first", (a, b) => (a.stale_at || "~").localeCompare(b.stale_at || "~") || a.number - b.number],
};
const PAGE = 100, SHOWN = 12;
const unfolded = new Set();  // facets that show all their values

/** The files that satisfy search and facets, best first; `without` leaves one facet out. */
function chosen(query, found, without) {
  const wanted = Object.keys(FACETS).filter((name) => name !== without && query.getAll(name).length);
  const base = found ? listed.filter((file) => found.has(file)) : listed;
  const sets = wanted.map((name) => [FACETS[name][1], new Set(query.getAll(name))]);
  return base.filter((file) => sets.every(([values, set]) => values(file).some((value) => set.has(value))));
}

const wide = matchMedia("(min-width: 56.01em)");
let opened = false;  // where there is no room beside the list, the facets lie folded above it

function facets(view, query, found) {
  const picks = Object.keys(FACETS).reduce((sum, name) => sum + query.getAll(name).length, 0);
  const holder = make("details", { toggle: () => { if (!wide.matches) opened = holder.open; } }, make("summary", {}, picks ? `Filters (${picks})` : "Filters"));
  holder.open = wide.matches || opened;
  const aside = make("aside", { "aria-label": "Filters" }, holder);
  for (const [name, [label, values]] of Object.entries(FACETS)) {
    const counts = new Map(), picked = new Set(query.getAll(name));
    for (const file of chosen(query, found, name)) for (const value of new Set(values(file))) counts.set(value, (counts.get(value) || 0) + 1);
    for (const value of picked) if (!counts.has(value)) counts.set(value, 0);
    if (!counts.size) continue;
    const rows = [...counts].sort((a, b) => picked.has(b[0]) - picked.has(a[0]) || b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const shown = unfolded.has(name) ? rows : rows.slice(0, SHOWN);
    holder.append(make("section", {},
      make("h2", {}, label),
      make("ul", {}, shown.map(([value, number]) => make("li", {}, make("a", {
        href: toggled(view, query, name, value), "data-key": `${name} ${value}`, class: picked.has(value) ? "chosen" : null, "aria-current": picked.has(value) ? "true" : null,
      }, name === "type" && make("i", { class: "dot", "data-type": value }), brief(value)), " ", make("span", { class: "quiet" }, `${number}`)))),
      rows.length > shown.length && make("button", { type: "button", click: () => { unfolded.add(name); show(); } }, `all ${rows.length}`),
    ));
  }
  for (const dot of aside.querySelectorAll(".dot")) dot.style.background = colourOf(dot.dataset.type);
  return aside;
}

function toggled(view, query, name, value) {
  const next = new URLSearchParams(query), values = next.getAll(name);
  next.delete(name);
  for (const other of values) if (other !== value) next.append(name, other);
  if (!values.includes(value)) next.append(name, value);
  return `#/${view}${next.size ? `?${next}` : ""}`;
}

function showList(query) {
  const words = query.get("q") || "", found = termsOf(words).length ? search(words) : null;
  const rows = chosen(query, found), pattern = found && patternOf(words);
  const order = ORDERS[query.get("sort")] ? query.get("sort") : found ? "best" : "path";
  rows.sort(order === "best" ? (found ? (a, b) => found.get(b) - found.get(a) || a.number - b.number : ORDERS.path[1]) : ORDERS[order][1]);
  const list = make("ol", { class: "files" });
  const more = make("button", { type: "button", click: () => add() });
  const add = () => {
    const start = list.children.length;
    list.append(...rows.slice(start, start + PAGE).map((file) => make("li", {},
      make("a", { class: "hit", href: fileAddress(file) }, marked(brief(file.title), pattern)), " ", spaced(badges(file)),
      make("p", { class: "path" }, file.path), file.description && make("p", {}, marked(brief(file.description), pattern)),
      found && make("p", { class: "snippet" }, snippet(file, pattern)),
    )));
    const left = rows.length - list.children.length;
    more.textContent = `show ${Math.min(PAGE, left)} more of ${left.toLocaleString("en")}`;
    more.hidden = !left;
  };
  add();
  const sort = make("select", { "aria-label": "Order", change: () => { const next = new URLSearchParams(query); next.set("sort", sort.value); location.hash = `#/?${next}`; } },
    Object.entries(ORDERS).filter(([name]) => found || name !== "best").map(([name, [label]]) => make("option", { value: name }, label)));
  sort.value = order;
  const isNarrowed = found || Object.keys(FACETS).some((name) => query.has(name));
  main.replaceChildren(make("div", { class: "beside" }, facets("", query, found), make("section", {},
    make("p", { class: "bar" }, make("strong", { id: "count" }, isNarrowed ? `${rows.length.toLocaleString("en")} of ${count(listed.length, "file")}` : count(rows.length, "file")), sort,
      isNarrowed && make("a", { href: "#/" }, "clear")),
    rows.length ? list : make("p", { class: "quiet" }, listed.length ? "Nothing here satisfies all of that." : "There is no concept in this bundle."), more)));
}

const spaced = (items) => items.filter(Boolean).flatMap((item) => [item, " "]);
