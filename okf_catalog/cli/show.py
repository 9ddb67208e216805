"""`okf-catalog show`: everything known of one concept."""

from __future__ import annotations

from typing import Annotated, Any

from okf_catalog.catalog import queries
from okf_catalog.cli import options, output
from okf_catalog.cli.declared import Option
from okf_catalog.cli.locate import located


def show(
    concept: options.ConceptArgument,
    bundle: options.InBundle = None,
    body: Annotated[bool, Option("--body/--no-body", help="With the text of the file.")] = True,
    as_of: options.AsOf = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Show everything the catalog knows of a concept.

    Trust, freshness, sources, verifications, links both ways, problems, other keys and
    the text. Broken and reserved files are shown too.
    """
    now = options.moment(as_of)
    connection, name, path = located(concept, bundle, db, no_sync=no_sync)
    row = queries.show(connection, name, path, now)
    assert row is not None  # noqa: S101  # it was just located
    if not body:
        row = {key: value for key, value in row.items() if key not in ("body", "text")}
    if as_json or pretty:
        output.dump_json(row, pretty=pretty)
    else:
        _print(row)
    return 0


def _print(row: dict[str, Any]) -> None:
    """The page for people."""
    if row["kind"] == "error":
        _print_error(row)
        return
    if row["kind"] != "concept":
        print(f"{row['path']}  ·  {row['kind']}  ·  @{row['bundle']}")
        _list("Problems", [_problem(item) for item in row["problems"]])
        if "text" in row:
            print(f"\n{output.for_stdout(row['text'].rstrip())}")
        return
    print(output.one_line(row["title"]))
    status = row["status"] + (", stale" if row["stale"] else "")
    print(f"{row['path']}  ·  {output.one_line(row['type'] or 'no type')}  ·  {status}  ·  {row['trust_tier']}  ·  @{row['bundle']}")
    if row["description"]:
        print(f"\n{output.one_line(row['description'])}")
    print()
    tier = row["trust_current"]
    for name, value in (
        ("Tags", ", ".join(row["tags"])),
        ("Resource", row["resource"]),
        ("Generated", _by_at(row["generated_by"], row["generated_at"])),
        ("Stale after", row["stale_after"]),
        ("Trust now", tier if tier != row["trust_tier"] else None),
    ):
        if value:
            print(f"{name + ':':13}{output.one_line(value)}")
    old = "  (before the content was generated)"
    _list("Verified", [_by_at(item["by"], item["at"]) + ("" if item["is_current"] else old) for item in row["verifications"]])
    _list("Sources", [_source(item) for item in row["sources"]])
    if row["computation"]:
        _list("Computation", [f"{key}: {output.cell(value)}" for key, value in row["computation"].items()
                              if value is not None and key != "code"])  # fmt: skip
    _list("Links to", [_link(item) for item in row["links"] if item["kind"] != "source"])
    _list("Linked from", [f"{item['path']}  {item['title']}" for item in row["linked_from"]])
    _list("Problems", [_problem(item) for item in row["problems"]])
    if row.get("body"):
        print(f"\n{output.for_stdout(row['body'].rstrip())}")


def _print_error(row: dict[str, Any]) -> None:
    place = ", ".join(f"{name} {row[name]}" for name in ("line", "column") if row[name])
    print(f"{row['path']}  ·  (parse error)  ·  @{row['bundle']}")
    print(f"\n{row['message']}{f' ({place})' if place else ''}")
    if row["excerpt"]:
        print(f"    {output.one_line(row['excerpt'])}")
    print(f"What to do: {row['advice']}")
    print(f"Seen since {row['first_seen']}")


def _by_at(by: str | None, at: str | None) -> str:
    return "  ".join(part for part in (by, at) if part)


def _source(item: dict[str, Any]) -> str:
    label = f"[{item['id']}] " if item["id"] else ""
    facts = [item["author"], f"used {item['usage_count']} times" if item["usage_count"] is not None else None,
             f"modified {item['last_modified']}" if item["last_modified"] else None]  # fmt: skip
    told = ", ".join(fact for fact in facts if fact)
    name = "  ".join(part for part in (item["title"], item["resource"]) if part)
    return f"{label}{name}{f'  ({told})' if told else ''}"


def _link(item: dict[str, Any]) -> str:
    place = item["path"] or item["target"]
    kind = "" if item["kind"] in ("link", "reference") else f"  ({item['kind'].replace('_', ' ')})"
    return f"{place}{kind}{'  (missing)' if item['missing'] else ''}"


def _problem(item: dict[str, Any]) -> str:
    return f"{item['level']} {item['check_id']}: {item['message']}" + (f" (line {item['line']})" if item["line"] else "")


def _list(heading: str, lines: list[str]) -> None:
    if lines:
        print(f"\n{heading}")
        for line in lines:
            print(f"  {output.one_line(line)}")
