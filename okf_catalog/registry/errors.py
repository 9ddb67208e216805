"""What can go wrong with a registry; each text names the thing and the way out."""

from __future__ import annotations

from okf_catalog.errors import CatalogError


class RegistryError(CatalogError):
    """The registry cannot be read or written, or a change to it was refused."""


class MalformedError(RegistryError):
    """The registry file holds something else than a registry."""


class UnknownRefError(RegistryError):
    """No bundle or group has the name that was asked for."""
