"""Which registry file is in force: the nearest project-local one upward, else the global one."""

from __future__ import annotations

import os
from typing import NamedTuple

from okf_catalog.registry.errors import RegistryError

GLOBAL_NAME = "registry.json"
LOCAL_NAME = ".okf.json"
OLD_NAME = ".okf-registry.json"
"""What project-local registries were called at first; still found, with a remark."""
LOCAL_NAMES = (LOCAL_NAME, OLD_NAME)
HOME_VARIABLE = "OKF_HOME"
NO_DISCOVERY_VARIABLE = "OKF_NO_DISCOVERY"


class Place(NamedTuple):
    """A registry file, whether it exists or not."""

    file: str
    """Absolute path."""
    base: str | None
    """The directory that relative paths in the file start from; None for the global registry."""

    @property
    def is_local(self) -> bool:
        """True for every registry but the global one."""
        return self.base is not None

    def shown(self, directory: str) -> str:
        """The file as people in `directory` would write it."""
        return f"./{os.path.basename(self.file)}" if self.base == directory else self.file


def global_place() -> Place:
    """`registry.json` in `$OKF_HOME`, which is `~/.okf` by default. Raises `RegistryError` for an unknown `~user`."""
    home = os.environ.get(HOME_VARIABLE) or "~/.okf"
    return Place(os.path.join(expand(home), GLOBAL_NAME), None)


def local_place(directory: str) -> Place | None:
    """The nearest project-local registry in `directory` or above it.

    Both names are tried in each directory on the way, so a near file with the old name
    comes before a far one with the new.
    """
    while True:
        for name in LOCAL_NAMES:
            file = os.path.join(directory, name)
            if os.path.isfile(file):
                return Place(file, directory)
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def active_place(directory: str | None = None, *, only_global: bool = False) -> Place:
    """The registry that answers in `directory` (default: the working directory). Raises `RegistryError`.

    A local registry replaces the global one altogether; `only_global` and
    `$OKF_NO_DISCOVERY` keep to the global one.
    """
    if only_global or os.environ.get(NO_DISCOVERY_VARIABLE):
        return global_place()
    return local_place(directory or working_directory()) or global_place()


def place_of(file: str) -> Place:
    """The registry in a file that was named outright: relative paths in it start beside it."""
    file = expand(file)
    known = global_place()
    if os.path.realpath(file) == os.path.realpath(known.file):
        return known
    return Place(file, os.path.dirname(file))


def remark_on_name(place: Place) -> str | None:
    """What to tell the user about a file with the old name, if there is one."""
    if place.base is None:
        return None
    if os.path.basename(place.file) == OLD_NAME:
        return f"{OLD_NAME} is the old name of this file; git mv {OLD_NAME} {LOCAL_NAME} keeps up"
    if os.path.isfile(os.path.join(place.base, OLD_NAME)):
        return f"{OLD_NAME} is not read, because {LOCAL_NAME} stands beside it; delete the old one"
    return None


def expand(path: str) -> str:
    """`path` absolute, `~` expanded. Raises `RegistryError` where no such user exists."""
    expanded = os.path.expanduser(path)
    if path.startswith("~") and expanded == path:
        raise RegistryError(f"cannot expand {path}: no such user; write the directory out")
    return os.path.normpath(os.path.join(working_directory(), expanded))


def working_directory() -> str:
    """The working directory; `/` where it has been removed, so that names still resolve."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return "/"
