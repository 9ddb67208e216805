"""The one door to bundle files: walk, stat, read, refuse. Strictly read-only.

Directories are opened relative to their parents and never through a symbolic link, so
nothing that is swapped during the walk leads out of the bundle.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, NamedTuple

from okf_catalog.errors import BundleError
from okf_catalog.format.problem import Failure

MAX_FILE = 16 * 1024 * 1024
"""Bytes; a larger file is a parse error."""
MAX_DEPTH = 200
"""Directories below each other: each one holds a file descriptor while it is walked."""
IGNORE_FILE = ".okfignore"
MAX_IGNORE_FILE = 1024 * 1024
READ_TRIES = 3
"""How often a file that changes while it is read is read again."""

_SUFFIXES = (".md", ".MD", ".Md", ".mD")
_by_name = attrgetter("name")
_VENDORED = "node_modules"
_NEVER = ".git"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MASK = (1 << 63) - 1  # stamps are stored as signed 64-bit numbers

Stamp = tuple[int, int, int, int]
"""mtime_ns, ctime_ns, size, inode of a file."""
UNSETTLED: Stamp = (0, 0, 0, 0)
"""A stamp that no file has: the file is looked at again at the next sync."""


class Directory(NamedTuple):
    """One directory of a bundle as the walk found it."""

    path: str
    """Relative to the root, `.` for the root itself."""
    names: list[str]
    """The markdown files, sorted; `\\udcXX` stands for bytes that are not UTF-8."""
    stamps: list[int]
    """Four numbers (a `Stamp`) for each name, one after the other."""


class Unreadable(NamedTuple):
    """A directory that could not be listed."""

    path: str
    reason: str


class Skipped:
    """How many entries the walk left out, and why."""

    def __init__(self) -> None:
        self.hidden = 0
        self.ignored = 0


class Content(NamedTuple):
    """What was read from a file."""

    data: bytes
    settled: bool
    """False when the file kept changing while it was read."""


def open_root(root: str) -> int:
    """A descriptor of the bundle directory. Raises `BundleError` with the way out."""
    check_name(root)
    try:
        # The root itself may be reached through a link; what is below it may not.
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise BundleError(f"{root} does not exist") from None
    except NotADirectoryError:
        raise BundleError(f"{root} is not a directory") from None
    except (OSError, ValueError) as problem:
        raise BundleError(f"cannot read {root}: {reason_of(problem)}") from None


def check_name(root: str) -> None:
    """Raise `BundleError` for a directory that the catalog could not name."""
    try:
        os.path.abspath(root).encode("utf-8")
    except UnicodeEncodeError:
        raise BundleError(f"the path {root} is not valid UTF-8; rename the directory") from None


def reason_of(problem: Exception) -> str:
    """The operating system's words for an error, without number and path."""
    return (problem.strerror or str(problem)) if isinstance(problem, OSError) else str(problem)


def walk(
    root: str, skipped: Skipped, *, include_hidden: bool = False, root_fd: int | None = None
) -> Iterator[Directory | Unreadable]:
    """All directories of a bundle with their markdown files, in byte order.

    Hidden entries, `node_modules` and what `.okfignore` names are left out and counted.
    Links to directories are not entered.
    """
    descriptor = open_root(root) if root_fd is None else root_fd
    try:
        yield from _Walk(skipped, include_hidden).directory(descriptor, ".", [], 0)
    finally:
        if root_fd is None:
            os.close(descriptor)


class _Walk:
    def __init__(self, skipped: Skipped, include_hidden: bool) -> None:
        self.skipped, self.include_hidden = skipped, include_hidden

    def directory(
        self, descriptor: int, path: str, rules: list[tuple[str, Any]], depth: int
    ) -> Iterator[Directory | Unreadable]:
        prefix = "" if path == "." else path + "/"
        try:
            with os.scandir(descriptor) as entries:
                found = list(entries)
        except OSError as problem:
            yield Unreadable(path, reason_of(problem))
            return
        if any(entry.name == IGNORE_FILE for entry in found):
            rules = [*rules, (prefix, _ignore_rules(descriptor))]
        found.sort(key=_by_name, reverse=True)
        names: list[str] = []
        stamps: list[int] = []
        directories: list[str] = []
        # The innermost loop of the sync: about 4 us a file, of which 3 are the stat call.
        while found:
            # Not kept: an entry holds all that its stat call said, a kilobyte in memory.
            entry = found.pop()
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if self.is_left_out(name, prefix, rules, is_directory=True):
                    continue
                directories.append(name)
            elif name.endswith(_SUFFIXES):
                if (rules or name[0] == ".") and self.is_left_out(name, prefix, rules, is_directory=False):
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                    if not entry.is_file(follow_symlinks=False):
                        # What a link leads to can change without the link.
                        status = _followed(descriptor, name) or status
                        if stat.S_ISDIR(status.st_mode):
                            continue
                    stamps += (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino & _MASK)
                except OSError:
                    continue  # gone since it was listed
                names.append(name)
        yield Directory(path, names, stamps)
        for name in directories:
            below = prefix + name
            if depth >= MAX_DEPTH:
                yield Unreadable(below, f"more than {MAX_DEPTH} directories deep")
                continue
            try:
                child = os.open(name, _DIRECTORY, dir_fd=descriptor)
            except FileNotFoundError:
                continue
            except OSError as problem:
                yield Unreadable(below, reason_of(problem))
                continue
            try:
                yield from self.directory(child, below, rules, depth + 1)
            finally:
                os.close(child)


    def is_left_out(self, name: str, prefix: str, rules: list[tuple[str, Any]], *, is_directory: bool) -> bool:
        if (name[0] == "." or name == _VENDORED) and (not self.include_hidden or name == _NEVER):
            self.skipped.hidden += 1
            return True
        if rules and _is_ignored(rules, prefix + name, is_directory):
            self.skipped.ignored += 1
            return True
        return False


def list_files(root: str, directory: str, *, include_hidden: bool = False) -> list[str]:
    """The paths of all files below a directory of the bundle, whatever their extension, in byte order.

    What the walk leaves out is left out here; so are links that lead out of the bundle.
    Nothing where there is no such directory. Raises `BundleError` where the root cannot be read.
    """
    root_fd = open_root(root)
    try:
        walker = _Walk(Skipped(), include_hidden)
        rules: list[tuple[str, Any]] = []
        path = "."
        for part in directory.split("/"):
            descriptor = open_directory(root_fd, path)
            try:
                if IGNORE_FILE in os.listdir(descriptor):
                    rules = [*rules, ("" if path == "." else path + "/", _ignore_rules(descriptor))]
            finally:
                os.close(descriptor)
            prefix = "" if path == "." else path + "/"
            if walker.is_left_out(part, prefix, rules, is_directory=True):
                return []
            path = prefix + part
        return sorted(_files_below(root_fd, os.path.realpath(root), path, rules, walker, 0))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as problem:
        raise BundleError(f"cannot read {root}: {reason_of(problem)}") from None
    finally:
        os.close(root_fd)


def _files_below(
    root_fd: int, real_root: str, path: str, rules: list[tuple[str, Any]], walker: _Walk, depth: int
) -> Iterator[str]:
    descriptor = open_directory(root_fd, path)
    try:
        with os.scandir(descriptor) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink(), entry.is_file()) for entry in entries]
        if any(name == IGNORE_FILE for name, *_ in found):
            rules = [*rules, (path + "/", _ignore_rules(descriptor))]
    finally:
        os.close(descriptor)
    for name, is_directory, is_link, is_file in found:
        if walker.is_left_out(name, path + "/", rules, is_directory=is_directory):
            continue
        below = f"{path}/{name}"
        if is_directory and depth < MAX_DEPTH:
            try:
                yield from _files_below(root_fd, real_root, below, rules, walker, depth + 1)
            except OSError:
                continue  # gone since it was listed, or not readable
        elif is_file:
            inside = os.path.relpath(os.path.realpath(os.path.join(real_root, below)), real_root) if is_link else below
            if inside.split("/")[0] != "..":
                yield below


def _followed(descriptor: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=descriptor)
    except OSError:
        return None


def _ignore_rules(descriptor: int) -> Any:
    """The gitignore rules of the `.okfignore` in an open directory; none where it cannot be read."""
    from pathspec import GitIgnoreSpec

    try:
        content = read_at(descriptor, IGNORE_FILE, MAX_IGNORE_FILE)
    except OSError:
        return GitIgnoreSpec.from_lines([])
    if isinstance(content, Failure):
        return GitIgnoreSpec.from_lines([])
    lines = content.data.decode("utf-8-sig", "replace").splitlines()
    try:
        return GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):
        return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _is_ignored(rules: list[tuple[str, Any]], path: str, is_directory: bool) -> bool:
    """The nearest file that has a say decides, as in git."""
    for prefix, spec in reversed(rules):
        verdict = spec.check_file(path[len(prefix) :] + ("/" if is_directory else "")).include
        if verdict is not None:
            return bool(verdict)
    return False


def open_directory(root_fd: int, path: str) -> int:
    """A descriptor of a directory of the bundle, no component of it a link. Raises `OSError`."""
    descriptor = os.dup(root_fd)
    if path != ".":
        for part in path.split("/"):
            try:
                child = os.open(part, _DIRECTORY, dir_fd=descriptor)
            finally:
                os.close(descriptor)
            descriptor = child
    return descriptor


def read(root_fd: int, root: str, directory_fd: int, path: str) -> Content | Failure | None:
    """The bytes of a file of the bundle; None when it is gone.

    `path` is relative to the root and lies in the directory that `directory_fd` is open
    on. A link is read where it leads inside the bundle and refused elsewhere.
    """
    name = path.rpartition("/")[2]
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return Failure("file_name", "the file name is not valid UTF-8", "rename the file")
    try:
        return read_at(directory_fd, name, MAX_FILE)
    except FileNotFoundError:
        return None
    except OSError as problem:
        if _is_link(directory_fd, name):
            return _read_link(root_fd, root, path)
        return _unreadable(problem)


def _unreadable(problem: OSError) -> Failure:
    return Failure("unreadable", reason_of(problem), "make the file readable for this user, or list it in .okfignore")


def _is_link(directory_fd: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=directory_fd, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _read_link(root_fd: int, root: str, path: str) -> Content | Failure | None:
    real_root = os.path.realpath(root)
    target = os.path.realpath(os.path.join(real_root, path))
    inside = os.path.relpath(target, real_root)
    if inside == ".." or inside.startswith("../") or _NEVER in inside.split("/"):
        return Failure("link_outside", "the symbolic link leads out of the bundle; it was not followed",
                       "copy the file into the bundle, or list the link in .okfignore")
    try:
        directory_fd = open_directory(root_fd, os.path.dirname(inside) or ".")
        try:
            return read_at(directory_fd, os.path.basename(inside), MAX_FILE)
        finally:
            os.close(directory_fd)
    except OSError as problem:
        if problem.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return _unreadable(problem)
        return Failure("link_broken", "the symbolic link leads to nothing", "restore its target, or remove the link")


def read_at(directory_fd: int, name: str, limit: int) -> Content | Failure:
    """Read a regular file, again while it changes under the reader. Raises `OSError`."""
    descriptor = os.open(name, _FILE, dir_fd=directory_fd)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            return Failure("unreadable", "this is not a regular file", "remove it, or list it in .okfignore")
        data = b""
        for _ in range(READ_TRIES):
            if before.st_size > limit:
                return Failure("too_large", f"the file has {before.st_size:,} bytes, more than {limit:,}",
                               "split it into several concepts, or list it in .okfignore")
            data = _read_all(descriptor, before.st_size, limit)
            after = os.fstat(descriptor)
            if len(data) == after.st_size and after.st_mtime_ns == before.st_mtime_ns:
                return Content(data, True)
            os.lseek(descriptor, 0, os.SEEK_SET)
            before = after
        return Content(data, False)
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, size: int, limit: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    length = len(data)
    # Longer than it said, or the kernel gave less than asked for.
    while data and length <= limit:
        data = os.read(descriptor, 1 << 20)
        parts.append(data)
        length += len(data)
    return b"".join(parts)
