"""`okf-catalog history`: what became of one concept."""

from __future__ import annotations

from okf_catalog.catalog import queries
from okf_catalog.cli import listing, options, output
from okf_catalog.cli.changes import print_syncs
from okf_catalog.cli.locate import located
from okf_catalog.views import changes as view


def history(
    concept: options.ConceptArgument,
    bundle: options.InBundle = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    limit: options.Limit = None,
    offset: options.Offset = 0,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """List what syncs changed in one concept, newest first.

    Moves are followed back to the names it had before. A file that is gone can be asked
    for, too.
    """
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects)
    names = listing.names_of(view.KEYS, fields, leave_out)
    connection, name, path = located(concept, bundle, db, no_sync=no_sync, otherwise=view.mentioned)
    rows = view.history(connection, name, path)
    place = view.moved_to(connection, name, path)
    if place is not None and not queries.locate(connection, path, name):
        output.note(f"{path} is {place} now")
    known_since = view.first_seen(connection, name)
    shown = list(listing.sliced(rows, limit, offset))
    if chosen == "json":
        head = {"bundle": name, "path": path, "known_since": known_since, "count": len(rows)}
        output.stream_json({**head, "changes": listing.only(shown, names)}, pretty=pretty)
    elif chosen == listing.TEXT:
        print(f"History — {output.one_line(path)}  ·  @{name} ({output.plural(len(rows), 'change')})")
        if not rows:
            print(f"  nothing changed since the first sync, {known_since}")
        print_syncs(shown)
        listing.print_rest(len(rows), offset, len(shown))
    else:
        output.emit_rows(shown, names, chosen)
    return 0
