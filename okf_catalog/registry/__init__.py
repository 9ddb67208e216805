"""Names for bundles: slugs, groups and links in the JSON file that the reference tool shares.

- `place`     which file is in force
- `document`  its text as records, and back
- `store`     read, lock, replace
- `view`      the names that answer, linked files included
- `edit`      every change, as functions on the records
- `transfer`  copy rows from one registry into another
- `resolve`   `@slug`, `@`, `@group`, `@all` for all verbs
"""

from __future__ import annotations

from okf_catalog.registry.errors import MalformedError, RegistryError, UnknownRefError
from okf_catalog.registry.resolve import Resolution, is_ref, open_view, resolve_many, resolve_one
from okf_catalog.registry.view import GroupCycleError, Ref, RefGroup, View

__all__ = [
    "GroupCycleError", "MalformedError", "Ref", "RefGroup", "RegistryError", "Resolution", "UnknownRefError", "View",
    "is_ref", "open_view", "resolve_many", "resolve_one",
]  # fmt: skip
