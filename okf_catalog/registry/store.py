"""The one door to registry files: read, lock, replace.

A writer locks the *directory* of the file (`flock`), reads, changes, writes a temporary
file beside it and renames that into place. So two writers never lose each other's change,
readers never see half a file, and nothing is left lying about: no lock file, neither in
`$OKF_HOME` nor in a project. Where the file system knows no such locks (some network
mounts) the rename still keeps the file whole, and the last writer wins.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from okf_catalog.bundle import reason_of
from okf_catalog.registry.document import Registry, dump, malformed, parse
from okf_catalog.registry.errors import RegistryError
from okf_catalog.registry.place import Place

LOCK_SECONDS = 10.0
"""How long a writer waits for another one; a change takes milliseconds."""
_POLL_SECONDS = 0.01


def load(place: Place, *, lenient: bool = False) -> Registry:
    """Read a registry; a missing file is an empty one.

    Raises `RegistryError` where the file cannot be read and `MalformedError` where it is
    no registry; `lenient` lets damaged rows pass, for the verbs that remove them.
    """
    registry = _parsed(_read(place), place)
    if not lenient:
        registry.check()
    return registry


@contextmanager
def editing(place: Place, *, lenient: bool = False) -> Iterator[Registry]:
    """A registry to change: what the block leaves is written, unless it raises.

    Raises `RegistryError` (also from reading, as `load`) where the file cannot be written.
    """
    with _locked(place) as lock:
        before = _read(place)
        registry = _parsed(before, place)
        if not lenient:
            registry.check()
        yield registry
        after = dump(registry)
        if after != before:
            _replace(lock, after, place)


def create(place: Place) -> bool:
    """Write an empty registry where there is none; False where something has the name. Raises `RegistryError`."""
    with _locked(place) as lock:
        if os.path.lexists(place.file):
            return False
        _replace(lock, dump(Registry(place)), place)
    return True


def _read(place: Place) -> bytes | None:
    try:
        with open(place.file, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise RegistryError(f"cannot read registry at {place.file}: {reason_of(problem)}") from None


def _parsed(data: bytes | None, place: Place) -> Registry:
    if data is None:
        return Registry(place)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise malformed(place.file, "it is not UTF-8") from None
    return parse(text, place)


class _Lock(NamedTuple):
    """The directory of a registry file, held for writing."""

    file: str
    """The file to replace, links followed."""
    directory: int
    """Descriptor of its directory."""
    is_held: bool
    """False where the file system has no locks."""


@contextmanager
def _locked(place: Place) -> Iterator[_Lock]:
    # A registry that is a link (into a directory of dotfiles, say) stays one.
    file = os.path.realpath(place.file)
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        descriptor = os.open(os.path.dirname(file), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as problem:
        raise _unwritable(place, problem) from None
    try:
        yield _Lock(file, descriptor, _wait_for_lock(descriptor, place))
    finally:
        os.close(descriptor)  # this gives the lock back


def _wait_for_lock(descriptor: int, place: Place) -> bool:
    """True with the lock, False where the file system has none. Raises `RegistryError` after a while."""
    give_up = time.monotonic() + LOCK_SECONDS
    while (is_locked := _try_lock(descriptor)) is None:
        if time.monotonic() > give_up:
            raise RegistryError(
                f"another process has been writing the registry at {place.file} for {LOCK_SECONDS:.0f} s; try again"
            )
        time.sleep(_POLL_SECONDS)
    return is_locked


def _try_lock(descriptor: int) -> bool | None:
    """True with the lock, None while another process has it, False where there are no locks."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except OSError:
        return False
    return True


def _replace(lock: _Lock, data: bytes, place: Place) -> None:
    # Under the lock one name serves all, so what a killed writer left is used up by the next.
    suffix = "new" if lock.is_held else f"{os.getpid()}.new"
    temporary = f"{os.path.dirname(lock.file)}/.{os.path.basename(lock.file).lstrip('.')}.{suffix}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(temporary, flags, 0o666), "wb") as stream:
            if os.path.exists(lock.file):
                os.fchmod(stream.fileno(), os.stat(lock.file).st_mode & 0o7777)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, lock.file)
    except OSError as problem:
        raise _unwritable(place, problem) from None
    finally:
        with suppress(OSError):
            os.unlink(temporary)
    with suppress(OSError):  # the new name is in place; not every file system can make it durable
        os.fsync(lock.directory)


def _unwritable(place: Place, problem: OSError) -> RegistryError:
    return RegistryError(f"cannot write registry at {place.file}: {reason_of(problem)}")
