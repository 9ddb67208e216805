"""What the verbs that list a bundle share: their format, their filters, the slice, how people read counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from okf_catalog.catalog.filters import Filters
from okf_catalog.cli import judging, options, output
from okf_catalog.views.lists import Asked

TEXT = "text"
ROOT_LABEL = "(root)"


def form_of(name: str | None, *, as_json: bool, pretty: bool, projects: bool = False, more: Sequence[str] = ()) -> str:
    """The format that the options ask for: `text` without any; a projection alone means JSON. Raises `UsageError`."""
    return output.choose_format(
        name, as_json=as_json or (projects and name is None), pretty=pretty, default=TEXT,
        formats=(*output.FORMATS, *more),
    )  # fmt: skip


def ask(opened: options.Opened, filters: Filters = Filters(), now: str = "") -> Asked:  # noqa: B008  # immutable
    """The concepts that the filters leave. Prints the notes: unusable files, values that nothing carries."""
    judging.note_skipped(opened)
    asked = Asked(opened.view.connection, opened.view.bundle.name, filters, now)
    note_unknown(opened, filters, now)
    return asked


def note_unknown(opened: options.Opened, filters: Filters, now: str) -> None:
    """Say which values of the filters no concept carries."""
    if filters != Filters():
        from okf_catalog.search.query import Corpus
        from okf_catalog.search.run import unknown_values

        for remark in unknown_values(Corpus(opened.view.connection, [opened.view.bundle.name], filters, now)):
            output.note(remark)


def names_of(keys: Sequence[str], fields: str | None, leave_out: str | None) -> list[str]:
    """The keys that a projection keeps. Raises `UsageError`."""
    return output.project([], keys, fields, leave_out)[1]


def only(rows: Iterable[dict[str, Any]], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows with these keys."""
    return ({name: row[name] for name in names} for row in rows)


def sliced(rows: Iterable[Any], limit: int | None, offset: int) -> Iterator[Any]:
    """The rows that `--limit` and `--offset` leave."""
    return islice(rows, offset, None if limit is None else offset + limit)


def counted(size: int, total: int, noun: str) -> str:
    """`3 concepts` where that is all, else `1 of 7 concepts`."""
    return output.plural(size, noun) if size == total else f"{size} of {output.plural(total, noun)}"


def print_rest(total: int, offset: int, shown: int) -> None:
    """The line below rows that were cut off."""
    if 0 < shown < total - offset:
        print(f"\n  … and {total - offset - shown} more (--limit, --offset)")


def shortened(text: str, length: int) -> str:
    """One line of at most `length` characters."""
    text = output.one_line(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def place(directory: str) -> str:
    """What people read for a directory."""
    return ROOT_LABEL if directory == "." else output.one_line(directory)


def joined(titles: Iterable[str], length: int) -> str:
    """Titles in one line of at most `length` characters."""
    text = ""
    for title in titles:
        text += (", " if text else "") + title
        if len(text) > length:
            break
    return shortened(text, length)


def depth_of(text: str | None) -> int | None:
    """The levels that `--depth` asks for. Raises `UsageError`."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise output.usage(f'--depth takes a whole number of levels, not "{text}"')
    return int(text[:9])


def wide(text: str) -> int:
    """Columns of a terminal that a text takes: some scripts take two for a letter."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, width: int) -> str:
    """`text` filled up with blanks to `width` columns."""
    return text + " " * (width - wide(text))
