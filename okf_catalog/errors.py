"""Errors that a user can do something about. The command line prints them in one line, exit 2."""

from __future__ import annotations


class CatalogError(Exception):
    """Base of all errors that are not bugs. Its text names the thing and the way out."""

    status = 2
    """Exit status of a command that ends with it: 2 for usage and environment."""


class BundleError(CatalogError):
    """The bundle directory is missing, not a directory, or cannot be read."""


class GuardError(CatalogError):
    """A sync that looks like an accident was refused; nothing was changed."""


class DatabaseError(CatalogError):
    """The catalog file cannot be opened, read or written."""


class BusyError(DatabaseError):
    """Another process is writing the catalog."""


class UsageError(CatalogError):
    """What was asked for makes no sense; nothing was done."""


class StaleError(CatalogError):
    """An answer as fresh as was required cannot be given."""

    status = 1  # a judgement, as a threshold that is crossed
