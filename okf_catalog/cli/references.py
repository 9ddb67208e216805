"""`okf-catalog references`: the files below `references/` and who points at them."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from okf_catalog.cli import judging, options, output
from okf_catalog.views import references as view

COLUMNS = ("path", "dir", "kind", "referenced_by")


def references(
    bundle: options.BundleArgument = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """List the files below references/, the concepts that point at them, and pointers that miss.

    Pointers are `resource`, `computation`, `executor.resource`, `attester.resource` and the
    `resource` of each source.
    """
    projects = fields is not None or leave_out is not None
    chosen = output.choose_format(form, as_json=as_json or projects, pretty=pretty, default="text")
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    known = opened.view.bundle
    found = view.references(opened.view.connection, known.name, known.root, include_hidden=known.include_hidden)
    judging.note_skipped(opened)
    rows, names = output.project(found.files, COLUMNS, fields, leave_out)
    if chosen == "json":
        output.dump_json(
            {**opened.head, "dangling": found.dangling, "count": len(rows), "references": rows}, pretty=pretty
        )
    elif chosen == "text":
        _print(found, opened.label)
    else:
        output.emit_rows(rows, names, chosen)
        for item in found.dangling:
            output.note(f"{item['id']}: {item['field']} {item['raw']} leads to {item['resolved']}, which does not exist")
    return 0


def _print(found: view.References, label: str) -> None:
    print(f"References — {label} ({output.plural(len(found.files), 'file')})")
    if not found.files:
        print("  (none)")
    for directory, group in groupby(sorted(found.files, key=lambda row: row["dir"]), lambda row: row["dir"]):
        members = [(output.one_line(row["path"].rpartition("/")[2]), row) for row in group]
        width = max(len(name) for name, _ in members)
        print(f"\n  {output.one_line(directory)}/")
        for name, row in members:
            kind = "concept  " if row["kind"] == "concept" else ""
            print(f"    {name.ljust(width)}  {kind}{_users(row)}")
    if found.dangling:
        print("\n  dangling pointers:")
    for item in found.dangling:
        print(f"    {output.one_line(item['id'])} — {item['field']}: {output.one_line(item['raw'])}")
        hint = f" — {output.one_line(item['hint'])}" if item["hint"] else ""
        print(f"      leads to {output.one_line(item['resolved'])}, which does not exist{hint}")


def _users(row: dict[str, Any]) -> str:
    if not row["referenced_by"]:
        return "(unreferenced)"
    return "← " + ", ".join(f"{output.one_line(user['id'])} ({user['field']})" for user in row["referenced_by"])
