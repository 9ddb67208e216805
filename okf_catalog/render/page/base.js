// What all views build on: the data, elements, the clock. Text of a bundle goes in as text, never as HTML;
// the one exception are bodies, which were laid out without any HTML of theirs.
const settings = JSON.parse(document.getElementById("settings").textContent);
const main = document.getElementById("main");
const files = [...document.querySelectorAll("script.facts")].map((element, number) => ({ number, into: [], ...JSON.parse(element.textContent) }));
const stored = document.querySelectorAll("script.details");
const details = (file) => JSON.parse(stored[file.number].textContent);
const byPath = new Map(files.map((file) => [file.path, file]));
for (const file of files) for (const target of file.out || []) files[target].into.push(file.number);
const listed = files.filter((file) => file.kind === "concept" || file.kind === "error");
const concepts = files.filter((file) => file.kind === "concept");

const directoryOf = (path) => path.slice(0, path.lastIndexOf("/") + 1);
const directories = new Map([["", { files: [], below: [] }]]);
for (const file of files) {
  for (let path = directoryOf(file.path); !directories.has(path); path = directoryOf(path.slice(0, -1))) directories.set(path, { files: [], below: [] });
  directories.get(directoryOf(file.path)).files.push(file);
}
for (const path of [...directories.keys()].sort()) if (path) directories.get(directoryOf(path.slice(0, -1))).below.push(path);

const address = (path) => path.split("/").map(encodeURIComponent).join("/");
const fileAddress = (file) => `#/file/${address(file.path)}`;
const directoryAddress = (path) => `#/dir/${address(path)}`;
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** An element; children that are no elements become text, null and false nothing. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value != null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

/** A link, or the bare text where the address is none that may be followed. */
function link(url, ...children) {
  if (!url || !/^(https?:\/\/|mailto:|#)/i.test(url)) return make("span", {}, ...children);
  return make("a", { href: url, rel: url[0] === "#" ? null : "noopener noreferrer nofollow" }, ...children);
}

/** Text of a bundle where a line is meant: it may be of any length. */
const MOST_LETTERS = 300;
const brief = (text) => (text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)} …` : text);

const badge = (text, kind) => make("span", { class: `badge ${kind || ""}` }, brief(text));

// Freshness is judged when the page is read. Instants have one spelling, so they compare as text.
const now = () => new Date().toISOString().slice(0, 19) + "Z";
let judgedAt = now();
const STALE = "stale", FRESH = "good until later", UNDATED = "no date";
const freshness = (file) => (!file.stale_at ? UNDATED : file.stale_at <= judgedAt ? STALE : FRESH);

/** "in 3 days", "5 months ago", by the reader's clock; empty for what is no instant. */
function fromNow(instant) {
  const days = (Date.parse(instant) - Date.parse(judgedAt)) / 86400000;
  if (Number.isNaN(days)) return "";
  const [unit, length] = Math.abs(days) >= 730 ? ["year", 365.25] : Math.abs(days) >= 60 ? ["month", 30.4] : ["day", 1];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.trunc(days / length), unit);
}

/** Type, status, trust and freshness of a file; `whole` tells what goes without saying, too. */
function badges(file, whole) {
  if (file.kind === "error") return [badge("cannot be used", "bad")];
  if (file.kind !== "concept") return [badge(file.kind)];
  const stale = freshness(file);
  return [
    file.type ? badge(file.type, "type") : badge("no type", "bad"),
    (whole || file.status !== "stable") && badge(file.status, file.status === "deprecated" ? "bad" : file.status === "stable" ? "good" : "fair"),
    badge(file.trust, { "human-reviewed": "good", "machine-confirmed": "well" }[file.trust] || "fair"),
    file.current !== file.trust && badge(`now ${file.current}`, "bad"),
    stale === STALE && badge(`stale since ${file.stale_at.slice(0, 10)}`, "bad"),
    stale === FRESH && whole && badge(`good until ${file.stale_at.slice(0, 10)}`, "good"),
  ];
}
