"""Which bundles may have changed, as it happens: for `sync --watch`.

The kernel's events only say where to look; what changed is found by the sync itself. So an
event too many costs a walk, and one that was lost is made good by the next look at
everything.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator

from okf_catalog import trace
from okf_catalog.bundle import IGNORE_FILE

DEBOUNCE_MS = 500
"""Events closer together than this are one change."""
LOOK_SECONDS = 600.0
"""Every so often all bundles are looked at, whether there were events or not."""
UNWATCHED_SECONDS = 30.0
"""The same where there are no events at all."""
_TICK_MS = 1000
"""How often the roots themselves are looked at: one that goes away takes its watch with it."""
_LONGEST_RETRY = 60.0
_FIRST_RETRY = 2.0
_LEFT_OUT = {".git", "node_modules"}
Identities = dict[str, tuple[int, int] | None]
"""Root to (device, inode); None for one that is not there."""


class Watcher:
    """Yields the roots that should be synced; survives that they go away and come back."""

    def __init__(
        self, roots: list[str], stop: threading.Event, *, debounce_ms: int = DEBOUNCE_MS,
        look_seconds: float = LOOK_SECONDS, on_trouble: Callable[[str], None] = trace.info,
    ) -> None:  # fmt: skip
        self.roots, self.stop, self.on_trouble = roots, stop, on_trouble
        self.debounce_ms, self.look_seconds = debounce_ms, look_seconds
        self.retries: dict[str, tuple[float, float]] = {}
        """Root to (when to try again, seconds waited for that)."""
        self.synced: set[str] = set()
        self.leaves_out_denied = False

    def failed(self, root: str) -> None:
        """Sync this root again after a while, longer each time."""
        pause = min(self.retries[root][1] * 2, _LONGEST_RETRY) if root in self.retries else _FIRST_RETRY
        self.retries[root] = (time.monotonic() + pause, pause)

    def succeeded(self, root: str) -> None:
        """The root needs no other try."""
        self.synced.add(root)
        self.retries.pop(root, None)

    def has_synced(self, root: str) -> bool:
        """True once the root was synced."""
        return root in self.synced

    def changes(self) -> Iterator[list[str]]:
        """Roots to sync, in the order given; all of them first. Ends when `stop` is set."""
        yield self.roots
        self.looked = time.monotonic()
        while not self.stop.is_set():
            seen = {root: _identity(root) for root in self.roots}
            present = [root for root in self.roots if seen[root] is not None]
            try:
                yield from self._watched(present, seen) if present else self._absent(seen)
            except PermissionError as problem:
                if self.leaves_out_denied:
                    raise
                # From here on a lack of watches is not told either, so everything is looked at more often.
                self.leaves_out_denied = True
                self.look_seconds = min(self.look_seconds, UNWATCHED_SECONDS)
                self.on_trouble(f"cannot watch everything ({_words(problem)}); looking every {self.look_seconds:g} s, too")
            except (OSError, RuntimeError) as problem:
                # No watches left, or a file system without events: looking now and then has to do.
                self.look_seconds = min(self.look_seconds, UNWATCHED_SECONDS)
                self.on_trouble(f"cannot watch ({_words(problem)}); looking every {self.look_seconds:g} s instead")
                yield from self._unwatched(seen)

    def _watched(self, present: list[str], seen: Identities) -> Iterator[list[str]]:
        from watchfiles import watch

        real = {root: os.path.realpath(root) for root in present}
        batches = watch(
            *real.values(), watch_filter=lambda _, path: _is_of_interest(path, real), debounce=self.debounce_ms,
            stop_event=self.stop, rust_timeout=_TICK_MS, yield_on_timeout=True, ignore_permission_denied=self.leaves_out_denied,
        )  # fmt: skip
        is_first = True
        for batch in batches:
            touched = {root for _, path in batch for root in present if path == real[root] or path.startswith(real[root] + "/")}
            if is_first:
                # What changed before the watch was set up made no event.
                touched.update(present)
                is_first = False
            moved = self._moved(seen)
            touched |= moved | self._due()
            if touched:
                yield [root for root in self.roots if root in touched]
            if moved:
                return

    def _absent(self, seen: Identities) -> Iterator[list[str]]:
        while not self.stop.wait(_TICK_MS / 1000):
            if self._moved(seen):
                return  # the watch that is set up next begins with a sync
            due = self._due()
            if due:
                yield [root for root in self.roots if root in due]

    def _unwatched(self, seen: Identities) -> Iterator[list[str]]:
        while not self.stop.wait(_TICK_MS / 1000):
            moved = self._moved(seen)
            due = self._due() | moved
            if due:
                yield [root for root in self.roots if root in due]
            if moved:
                return

    def _moved(self, seen: Identities) -> set[str]:
        """Roots that went, came, or are another directory than before."""
        return {root for root in self.roots if _identity(root) != seen[root]}

    def _due(self) -> set[str]:
        now = time.monotonic()
        if now - self.looked >= self.look_seconds:
            self.looked = now
            return set(self.roots)
        return {root for root, (moment, _) in self.retries.items() if now >= moment}


def _identity(root: str) -> tuple[int, int] | None:
    try:
        status = os.stat(root)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _words(problem: Exception) -> str:
    """What went wrong, without the paths and the innards that watchfiles adds."""
    return str(problem).split(" about ")[0].rstrip(".")


def _is_of_interest(path: str, real: dict[str, str]) -> bool:
    """False for what no sync would read. A path that is gone may have been a directory."""
    root = max((root for root in real.values() if path.startswith(root + "/")), key=len, default="")
    if _LEFT_OUT.intersection(path[len(root) :].split("/")):
        return False
    name = os.path.basename(path)
    return name == IGNORE_FILE or name.lower().endswith(".md") or not os.path.isfile(path)
