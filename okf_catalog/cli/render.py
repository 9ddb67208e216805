"""`okf-catalog render`: a bundle as one HTML file."""

from __future__ import annotations

import os
from typing import Annotated

from okf_catalog.cli import judging, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.cli.sink import sink_for
from okf_catalog.errors import UsageError
from okf_catalog.format.links import is_markdown
from okf_catalog.format.slugs import title_of
from okf_catalog.views.drawing import LAYOUTS


def render(
    bundle: options.BundleArgument = None,
    target: Annotated[str | None, Option("--output", "-o", metavar="FILE", help="Write there, all or nothing. [default: standard output]", show_default=False)] = None,
    title: Annotated[str | None, Option("--title", "-t", metavar="TEXT", help="Title of the page. [default: the directory and the one above]", show_default=False)] = None,
    link: Annotated[str | None, Option("--link", "-l", metavar="URL", help="Where the bundle comes from; shown below the title.", show_default=False)] = None,
    layout: Annotated[str | None, Option("--layout", metavar="NAME", help=f"Open with the graph, laid out so: {', '.join(LAYOUTS)}.", show_default=False, autocompletion=lambda: list(LAYOUTS))] = None,
    as_map: Annotated[bool, Option("--map", help="Open with the map: a box around each directory, links when a concept is chosen.")] = False,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Write a bundle as one HTML page that needs no server and no network.

    List with facets, full-text search, every concept, the directories and the graph. Freshness is judged
    when the page is read, by the reader's clock.
    """
    from okf_catalog.render.document import Options, document, is_page, weigh

    if layout is not None and layout not in LAYOUTS:
        raise UsageError(f"--layout {layout}: choose one of {', '.join(LAYOUTS)}")
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    root = os.path.realpath(opened.view.bundle.root)
    if target is not None:
        place = os.path.realpath(os.path.expanduser(target))
        if place.startswith(os.path.join(root, "")) and (is_markdown(place) or (os.path.isfile(place) and not is_page(place))):
            raise UsageError(f"cannot write {target}: bundles are only read, and that would be a file of this one")
    connection, name = opened.view.connection, opened.view.bundle.name
    connection.execute("begin")  # one state of the catalog for all of the page
    size, is_slow = weigh(connection, name)
    judging.note_skipped(opened)
    if is_slow:
        output.note(f"a page of {size.files:,} files takes a while to open; okf-catalog server shows them without the wait")
    chosen = Options((title or "").strip() or title_of(root), link, layout, as_map)
    with sink_for(target) as sink:
        for piece in document(connection, name, chosen):
            sink.write(piece)
    connection.execute("rollback")
    if target is not None:
        print(f"wrote {output.plural(size.concepts, 'concept')} to {output.one_line(target)}")
    return 0
