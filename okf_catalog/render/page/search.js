// Full-text search: what `okf-catalog search` finds with its literal engine. Every term must occur in some
// field, as it stands but for case and white space; the fields hit give the score.
const WEIGHTS = { title: 5, id: 4, tags: 3, type: 2, description: 2, sources: 1, body: 1 };
const SPACE = /(?:(?!\ufeff)[\s\x1c-\x1f\x85])+/g;  // as Python has it

/** Case-folded NFC with single spaces, NUL as U+FFFD. */
function fold(text) {
  return foldCase(text.normalize("NFC")).normalize("NFC").replace(SPACE, " ").replace(/^ | $/g, "").replaceAll("\0", "\ufffd");
}

// Lower case of upper case is nearly the full case folding of Unicode; `EXCEPT` holds what differs.
function foldCase(text) {
  return /^[\0-\x7f]*$/.test(text) ? text.toLowerCase() : [...text].map((one) => EXCEPT.get(one) || one.toUpperCase().toLowerCase()).join("");
}
const EXCEPT = new Map([["ı", "ı"], ["ς", "σ"], ["Σ", "σ"], ["ẞ", "ss"]]);

const searched = [];  // the folded fields of each file, made when first needed

function fieldsOf(file) {
  if (!searched[file.number]) {
    const it = details(file);
    const sources = (it.sources || []).flatMap((source) => [source.title, source.resource]).filter(Boolean).join(" ");
    searched[file.number] = file.kind === "error" ? { body: fold(it.text) } : {
      title: fold(file.title), id: fold(file.path.slice(0, -3)), tags: fold(file.tags.join(" ")), type: fold(file.type || ""),
      description: fold(file.description || ""), sources: fold(sources), body: fold(it.text),
    };
  }
  return searched[file.number];
}

/** The terms of what was typed: words, or "several words" as one. */
function termsOf(words) {
  return [...words.matchAll(/"([^"]*)"?|(\S+)/g)].map((found) => found[1] ?? found[2]).filter((term) => fold(term));
}

/** Map from file to score. */
function search(words) {
  const terms = termsOf(words).map(fold), found = new Map();
  for (const file of listed) {
    const fields = fieldsOf(file), hit = new Set();
    const every = terms.every((term) => {
      const names = Object.keys(fields).filter((name) => fields[name].includes(term));
      for (const name of names) hit.add(name);
      return names.length;
    });
    if (every) found.set(file, [...hit].reduce((sum, name) => sum + WEIGHTS[name], 0));
  }
  return found;
}

/** A pattern for where the terms stand in text as written, or null. */
function patternOf(words) {
  const terms = termsOf(words).map((term) => term.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "\\s+"));
  return terms.length ? new RegExp(terms.sort((a, b) => b.length - a.length).join("|"), "giu") : null;
}

/** Text with the hits marked. */
function marked(text, pattern) {
  if (!pattern) return [text];
  const parts = [];
  let at = 0;
  for (const hit of text.matchAll(pattern)) {
    parts.push(text.slice(at, hit.index), make("mark", {}, hit[0]));
    at = hit.index + hit[0].length;
  }
  return [...parts, text.slice(at)];
}

/** The surroundings of the first hit in a body, or null. */
function snippet(file, pattern) {
  const text = details(file).text;
  const hit = new RegExp(pattern.source, "iu").exec(text);
  if (!hit) return null;
  const start = Math.max(0, hit.index - 70), end = Math.min(text.length, hit.index + hit[0].length + 130);
  return marked((start ? "… " : "") + text.slice(start, end).replace(/\s+/g, " ") + (end < text.length ? " …" : ""), pattern);
}
