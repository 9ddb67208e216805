"""`okf-catalog stats`: the numbers of a bundle."""

from __future__ import annotations

from okf_catalog.cli import judging, listing, options, output
from okf_catalog.views import lists as view

COLUMNS = ("name", "value")
_LABELS = {"concepts": "concepts", "dirs": "dirs", "concept_types": "concept types", "cross_links": "cross-links",
           "distinct_tags": "distinct tags"}  # fmt: skip
_WIDTH = 13


def stats(
    bundle: options.BundleArgument = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Count what a bundle holds: concepts, directories, types, links, tags."""
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    judging.note_skipped(opened)
    found = view.stats(opened.view.connection, opened.view.bundle.name)
    if chosen == "json":
        output.dump_json({**opened.head, **found._asdict()}, pretty=pretty)
    elif chosen == listing.TEXT:
        _print(found, opened.label)
    else:
        rows = [{"name": name, "value": getattr(found, name)} for name in (*_LABELS, "top_dirs")]
        for group in ("by_type", "by_dir", "by_top_dir"):
            rows += [{"name": f"{group}: {name}", "value": count} for name, count in getattr(found, group).items()]
        output.emit_rows(rows, COLUMNS, chosen)
    return 0


def _print(found: view.Stats, label: str) -> None:
    print(f"Stats — {label}\n")
    for name, text in _LABELS.items():
        print(f"  {text.ljust(_WIDTH)}  {getattr(found, name)}")
    by_dir = {listing.place(name): count for name, count in found.by_dir.items()}
    for heading, counts in (("By type", found.by_type), ("By dir", by_dir)):
        if counts:
            names = {output.one_line(name): count for name, count in counts.items()}
            width = max(map(listing.wide, names))
            print(f"\n  {heading}")
            for name, count in names.items():
                print(f"    {listing.pad(name, width)}  {count}")
