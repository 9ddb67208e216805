"""`okf-catalog search`: terms in, ranked concepts out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Annotated, Any

from okf_catalog.cli import completion, options, output
from okf_catalog.cli.declared import Argument, Option
from okf_catalog.errors import UsageError
from okf_catalog.format import slugs
from okf_catalog.search.library import Named, Opened, catalogued, open_named, read_mode, tiers
from okf_catalog.search.query import FIELDS, Corpus, Query, read_fields
from okf_catalog.search.result import Row
from okf_catalog.search.run import Found, run, unknown_values

KEYS = ("id", "title", "type", "dir", "top_dir", "tags", "matched", "score", "snippet")
EXTRA_KEYS = ("path", "parse_error")
"""Not in a row unless `--fields` names them."""
_FOR_PEOPLE = {"slug": "Bundle", "id": "Concept", "title": "Title", "type": "Type", "matched": "Matched",
               "score": "Score", "snippet": "Text"}  # fmt: skip
_PARSE_ERROR = "(parse error)"
_SNIPPET_WIDTH = 100
_MEASURED = 500
"""Rows from which the widths of columns are taken; all of them may be too many to hold."""
_BANNER = "Usage: okf-catalog search <dir|@slug…|@all> <term…> (okf-catalog search --help)"

def search(
    arguments: Annotated[list[str] | None, Argument(metavar="BUNDLE... TERM...", help="A directory, or @name of one or more bundles, or @all; then the terms, all of which have to match.", show_default=False, autocompletion=completion.bundles)] = None,
    regexp: Annotated[bool, Option("--regexp", "-e", help="Read terms as regular expressions over the text as written.")] = False,
    fuzzy: Annotated[bool, Option("--fuzzy", help="Forgive about one wrong letter in five (engine fts5).")] = False,
    engine: Annotated[str | None, Option("--engine", metavar="NAME", help="scan (literal text, the default) or fts5 (words, ranked by BM25; also called index).", show_default=False)] = None,
    within: Annotated[str | None, Option("--in", metavar="FIELDS", help=f"Search only these: {', '.join(FIELDS)}.", show_default=False)] = None,
    types: options.Types = None,
    dirs: options.Dirs = None,
    area: options.Area = None,
    tags: options.Tags = None,
    statuses: options.Statuses = None,
    trusts: options.Trusts = None,
    stale_only: options.StaleOnly = False,
    not_types: options.NotTypes = None,
    not_tags: options.NotTags = None,
    not_statuses: options.NotStatuses = None,
    limit: options.Limit = None,
    offset: options.Offset = 0,
    explain: Annotated[bool, Option("--explain", help="Say on stderr how terms were read and what scored.")] = False,
    as_of: options.AsOf = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Find concepts by their text, best first.

    A term is literal text anywhere in title, id, tags, type, description, sources or body,
    whatever its case; white space in it matches any white space. Every term has to match.
    """
    projects = fields is not None or leave_out is not None
    chosen = output.choose_format(form, as_json=as_json or (projects and form is None), pretty=pretty, default="people")
    now = options.moment(as_of)
    refs, terms = _split(arguments or [])
    bundles = _resolve(refs, options.database_path(db)) if refs[0].startswith("@") else None
    if not terms:
        raise UsageError(f"no term to search for: {' '.join(refs)} was read as the bundle. {_BANNER}")
    _remark_on_terms(terms)
    query = Query(
        tuple(terms), read_fields([name for name in (within or "").split(",") if name]), read_mode(regexp=regexp, fuzzy=fuzzy)
    )
    filters = options.filters(
        types=types, tags=tags, statuses=statuses, trusts=tiers(trusts or ()), stale_only=stale_only, dirs=dirs, area=area,
        not_types=not_types, not_tags=not_tags, not_statuses=not_statuses,
    )  # fmt: skip
    label, opened = _open(refs[0], bundles, db, no_sync=no_sync)
    connection = opened.connection
    skip_notes(connection, {name: f"@{slug}" if bundles is not None else label for name, slug in opened.slugs.items()})
    corpus = Corpus(connection, opened.slugs, filters, now)
    found = run(corpus, query, engine=engine, limit=limit, offset=offset, explain=explain, lazy=True)
    for remark in (*found.notes, *unknown_values(corpus), *found.explanation):
        output.note(remark)
    shown = _Shown(found, is_named=bundles is not None, fields=fields, leave_out=leave_out)
    there = found.broken_paths
    if there and not (shown.has_broken or (chosen == "people" and len(found.broken) == len(there))):
        note_broken(there)
    if chosen == "json":
        head: dict[str, Any] = {"bundle": label}
        if bundles is not None:
            head = {"bundles": [{"slug": slug, "dir": root} for slug, root in bundles]}
        output.stream_json({**head, "query": terms, "count": found.total, "matches": iter(shown.rows)}, pretty=pretty)
    elif chosen == "people":
        called = " ".join(f"@{slug}" for slug, _ in bundles) if bundles is not None else label
        _print(found, called, terms, _total(connection, opened.slugs), is_named=bundles is not None, offset=offset)
    else:
        names = shown.names
        if chosen in ("markdown", "table") and not projects:
            names = [name for name in _FOR_PEOPLE if name in names]
        output.emit_rows(shown.rows, names, chosen, [_FOR_PEOPLE.get(name, name) for name in names])
    return 0


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Bundles and terms: all leading @names are bundles, else the first argument is a directory."""
    if not arguments:
        raise UsageError(f"name a bundle and a term. {_BANNER}")
    count = 1
    if arguments[0].startswith("@"):
        count = next((at for at, word in enumerate(arguments) if not word.startswith("@")), len(arguments))
    return arguments[:count], arguments[count:]


def _resolve(references: Iterable[str], path: str) -> list[Named]:
    """The bundles that `@slug`, `@`, `@group` and `@all` lead to, each directory once.

    The registry is asked first, then the catalog at `path` for names that the registry does
    not know. Raises `UsageError` and what `okf_catalog.registry` raises.
    """
    from okf_catalog.registry import UnknownRefError, open_view, resolve_many

    found: dict[str, Named] = {}
    for reference in references:
        slug = slugs.normalize(reference)
        is_all = slug == slugs.RESERVED
        there: list[Named] = []
        unknown: UnknownRefError | None = None
        if not is_all or open_view().bundles:
            try:
                resolution = resolve_many([reference])
            except UnknownRefError as problem:
                unknown = problem
            else:
                there = [Named(ref.slug, ref.path) for ref in resolution.refs]
                for remark in resolution.notes:
                    output.note(remark)
        if not there:
            there = [known for known in catalogued(path) if slug and (is_all or known.slug == slug)]
        if not there:
            output.note("searching for a literal @-term? put another term first, or use -e '\\@term'")
            raise unknown or UsageError("@all names no bundle: none is registered or in the catalog (okf-catalog sync DIR)")
        for named in there:
            found.setdefault(os.path.realpath(named.root), named)
    return list(found.values())


def _remark_on_terms(terms: Sequence[str]) -> None:
    literal = next((term for term in terms if term.startswith("@")), None)
    if literal is not None:
        output.note(f"'{literal}' searches as a literal term; an @name of a bundle, or @all, must lead")


def _open(argument: str, bundles: list[Named] | None, db: str | None, *, no_sync: bool) -> tuple[str, Opened]:
    if bundles is not None:
        opened = open_named(bundles, options.database_path(db), refresh=not no_sync)
        for remark in opened.notes:
            output.note(remark)
        return "", opened
    one = options.open_bundle(argument, db, no_sync=no_sync)
    return one.directory, Opened(one.view.connection, {one.view.bundle.name: one.view.bundle.name}, [])


def skip_notes(connection: Any, bundles: Mapping[str, str]) -> None:
    """Say how many files of each bundle cannot be used; `bundles` are names and what the caller calls them."""
    for bundle, called in bundles.items():
        row = connection.execute("select parse_error_count from bundles where name = ?", (bundle,)).fetchone()
        if row and row[0]:
            output.note(f"{row[0]} unusable file(s) are no concepts (okf-catalog validate {called} says why)")


def note_broken(paths: Sequence[str]) -> None:
    """Say which unusable files hold the text, if any."""
    if paths:
        some = ", ".join(paths[:5]) + (", …" if len(paths) > 5 else "")
        output.note(f"{output.plural(len(paths), 'unusable file')} hold{'s' * (len(paths) == 1)} the text, too: {some}")


def _total(connection: Any, bundles: Iterable[str]) -> int:
    marks = dict(connection.execute("select name, concept_count from bundles"))
    return sum(marks[bundle] for bundle in bundles)


class _Shown:
    """Rows as whoever asked wants them."""

    def __init__(self, found: Found, *, is_named: bool, fields: str | None, leave_out: str | None) -> None:
        keys = ("slug", *KEYS) if is_named else KEYS
        asked = {name.lower() for name in (fields or "").split(",")}
        if asked & {*EXTRA_KEYS}:
            keys = (*keys, *EXTRA_KEYS)
        # An unusable file can only be shown where the row says that it is one.
        self.has_broken = "parse_error" in asked
        names = self.names = output.project([], keys, fields, leave_out)[1]
        rows: Iterable[Row] = chain(found.rows, found.broken if self.has_broken else ())
        self.rows = ({name: getattr(row, name) for name in names} for row in rows)


def _print(found: Found, label: str, terms: list[str], total: int, *, is_named: bool, offset: int) -> None:
    """The answer for people."""
    line = output.one_line
    counted = output.plural(total, "concept") if found.total == total else f"{found.total} of {output.plural(total, 'concept')}"
    print(f"Search — {line(label)} · {line(' '.join(terms))} ({counted})")
    rows = chain(found.rows, found.broken)
    first = list(islice(rows, _MEASURED))
    if not first and found.total == 0:
        print("  no matches — fewer or broader terms")
    width = max((len(row.id) for row in first), default=0)
    slug_width = max((len(row.slug) for row in first), default=0) + 1
    shown = 0
    for row in chain(first, rows):
        shown += not row.parse_error
        slug = f"{'@' + row.slug:<{slug_width}}  " if is_named else ""
        kind = _PARSE_ERROR if row.parse_error else row.type or ""
        print(f"\n  {slug}{line(row.id):<{width}}  {line(row.title)}  ·  {line(kind)}  ·  {'+'.join(row.matched)}")
        if row.snippet:
            text = row.snippet if len(row.snippet) <= _SNIPPET_WIDTH else row.snippet[: _SNIPPET_WIDTH - 1] + "…"
            print(f"    {line(text)}")
    left = found.total - offset - shown
    if left > 0 and shown:
        print(f"\n  … and {left} more (--limit, --offset)")
