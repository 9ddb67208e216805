// From the address to a view.
const box = document.getElementById("words");
const tabs = document.querySelectorAll("#tabs a");
const footer = document.getElementById("footer");
let last = null;

function show() {
  judgedAt = now();
  const hash = location.hash.startsWith("#/") ? location.hash.slice(2) : "";
  const view = /^(file|dir)\//.exec(hash);
  const focused = document.activeElement.dataset.key;
  if (graph) { graph.destroy(); graph = null; }
  let title = settings.title;
  if (view) {
    const [path, fragment] = splitOnce(hash.slice(view[0].length), "#");
    const name = decoded(path);
    if (view[1] === "file") showFile(name, fragment);
    else showDirectory(name, fragment);
    title = `${byPath.get(name)?.title || name || "Directories"} · ${title}`;
  } else {
    const [name, asked] = splitOnce(hash, "?");
    const query = new URLSearchParams(asked);
    if (document.activeElement !== box) box.value = query.get("q") || "";
    if (name === "graph") showGraph(query, false);
    else if (name === "map") showGraph(query, true);
    else showList(query);
  }
  document.title = title;
  for (const tab of tabs) {
    const own = tab.getAttribute("href").slice(2).replace("/", ""), at = view ? view[1] : splitOnce(hash, "?")[0];
    if (own === at) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  // The first part of an address says whether this is another view or the same one narrowed.
  const where = hash.split("?")[0];
  if (where !== last && !splitOnce(hash, "#")[1]) scrollTo(0, 0);
  // Who goes through the page by keyboard goes on where the view changed, not from the top.
  if (focused) [...main.querySelectorAll("[data-key]")].find((element) => element.dataset.key === focused)?.focus({ preventScroll: true });
  else if (last !== null && where !== last && !main.contains(document.activeElement) && document.activeElement !== box) main.focus({ preventScroll: true });
  last = where;
  const stale = concepts.filter((file) => freshness(file) === STALE).length;
  footer.textContent = `${count(concepts.length, "concept")}, ${stale} stale, judged ${judgedAt.replace("T", " ").slice(0, 16)} UTC by the clock of this machine. ` +
    `The files are as of ${settings.synced_at ? settings.synced_at.replace("T", " ").slice(0, 16) + " UTC" : "when the page was made"}; okf-catalog ${settings.version}.`;
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

let waiting = 0;
function ask() {
  const hash = location.hash.slice(2), [name, asked] = splitOnce(hash, "?");
  const query = new URLSearchParams(/^(graph|map|)$/.test(name) ? asked : "");
  const was = query.get("q") || "";
  if (was === box.value.trim()) return;
  if (box.value.trim()) query.set("q", box.value.trim());
  else query.delete("q");
  if (query.get("sort") === "best") query.delete("sort");
  const next = `#/${/^(graph|map)$/.test(name) ? name : ""}${query.size ? `?${query}` : ""}`;
  // One entry in the history for a search, not one for each letter.
  if (was && /^(graph|map|)$/.test(name)) history.replaceState(null, "", next);
  else history.pushState(null, "", next);
  show();
}
box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(ask, 150); });
document.getElementById("search").addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); ask(); });
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); box.focus(); }
});
addEventListener("hashchange", show);
// A page that stays open does not stay fresh.
setInterval(() => { const at = now(); if (concepts.some((file) => file.stale_at > judgedAt && file.stale_at <= at)) show(); }, 60000);

if (!location.hash && (settings.map || settings.layout)) history.replaceState(null, "", settings.map ? "#/map" : "#/graph");
show();
window.okf = { files, fold, search, get graph() { return graph; } };
document.body.dataset.ready = files.length;
