"""A SQLite catalog of OKF bundles. Importing this costs nothing but the version."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; `typing` itself would cost milliseconds
if TYPE_CHECKING:
    import os

    from okf_catalog.search.library import Searchable

__version__ = "0.1.0"


def open(  # noqa: A001  # reads well where it is used: okf_catalog.open(path)
    path: str | os.PathLike[str], *, db: str | os.PathLike[str] | None = None, refresh: bool = True
) -> Searchable:
    """Open a bundle to search it: `okf_catalog.open("docs/.okf").search(["dedup", "key"], type="Metric")`.

    `path` is a bundle's directory, `@name` of a bundle in the catalog, or a catalog file,
    which stands for all its bundles. `db` is the catalog that may know the bundle (by
    default the command line's); a directory that it does not know is read into memory.
    `refresh` looks first whether files have changed. Raises `okf_catalog.errors.CatalogError`.
    """
    from okf_catalog.search.library import open_path

    return open_path(path, db=db, refresh=refresh)
