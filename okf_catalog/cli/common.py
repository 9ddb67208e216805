"""Options that every verb has without naming them: `-v`, and for questions `--fresh` and `--provenance`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

from okf_catalog.catalog import freshness
from okf_catalog.cli import output
from okf_catalog.cli.declared import Option, Parameter, parameter, parameters
from okf_catalog.errors import UsageError
from okf_catalog.format.durations import age

Verbose = Annotated[int, Option("-v", "--verbose", count=True, show_default=False, help="Say on stderr what is done and as of when the answer is; -vv in detail.")]
Fresh = Annotated[str, Option("--fresh", metavar="POLICY", help="auto: refresh first, answer from the last sync where that fails; never: do not look at the files; require: exit 1 where the answer is not fresh.")]
Provenance = Annotated[bool, Option("--provenance", help="Say as of when the answer is: in the head of JSON, else on stderr.")]


class Verb:
    """A verb's function with the options of this module; a verb that can refresh has `--no-sync` already."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        own = parameters(function)
        taken = {spelling for one in own for spelling in one.declared.names}
        names = {one.name for one in own}
        self.is_question = "no_sync" in names
        self._added: list[Parameter] = []
        if self.is_question:
            self._add("fresh", Fresh, freshness.AUTO)
            self._add("provenance", Provenance, False)
        if "-v" not in taken:
            self._add("verbose", Verbose, 0)
        self._added = [one for one in self._added if one.name not in names and not taken & {*one.declared.names}]
        self.parameters = [*own, *self._added]

    def _add(self, name: str, kind: Any, default: object) -> None:
        self._added.append(parameter(name, kind, default))

    def __call__(self, **arguments: Any) -> Any:
        """Run the verb; returns its exit status. Raises `CatalogError`."""
        common = {one.name: arguments.pop(one.name) for one in self._added}
        policy = _policy(common.get("fresh", freshness.AUTO))
        if policy == freshness.NEVER and self.is_question:
            arguments["no_sync"] = True
        elif policy == freshness.REQUIRE and arguments.get("no_sync"):
            raise UsageError("--no-sync and --fresh require contradict each other")
        verbose = common.get("verbose", 0)
        if verbose:
            listen(verbose)
        with freshness.asking(policy) as question:
            tells = bool(common.get("provenance"))
            if tells:
                output.provenance = lambda: provenance(question)
            try:
                status = self.function(**arguments)
            finally:
                told = tells and output.provenance is None
                output.provenance = None
            if self.is_question and (verbose or (tells and not told)):
                _tell(question)
        return status


def _policy(text: str) -> str:
    if text not in freshness.POLICIES:
        raise UsageError(f"--fresh {text}: choose one of {', '.join(freshness.POLICIES)}")
    return text


def listen(verbose: int) -> None:
    """Show on stderr what the library does."""
    import logging

    from okf_catalog.trace import LOGGER

    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.DEBUG if verbose > 1 else logging.INFO)
    logger.propagate = False
    logger.handlers = [_Handler(verbose)]


def _Handler(verbose: int) -> Any:  # noqa: N802  # a class that is only made where logging is loaded
    import logging

    class Handler(logging.Handler):
        """Lines without line breaks or control characters, on whatever stderr is now."""

        def emit(self, record: logging.LogRecord) -> None:
            stamp = f"{record.created % 86_400 // 3600:02.0f}:{record.created % 3600 // 60:02.0f}:{record.created % 60:06.3f} " if verbose > 1 else ""
            sys.stderr.write(f"{stamp}{record.levelname.lower()}: {output.one_line(record.getMessage())}\n")

    return Handler()


def provenance(question: freshness.Asking) -> dict[str, Any]:
    """What an answer rests on, for the head of a JSON document."""
    rests = list(question.rests.values())
    moments = [rest.synced_at for rest in rests]
    return {
        # An answer is as old as the oldest state in it.
        "synced_at": min((moment for moment in moments if moment), default=None) if all(moments) else None,
        "provenance": [
            {"bundle": rest.bundle, "root": rest.root, "synced_at": rest.synced_at, "fresh": rest.is_fresh} for rest in rests
        ],
    }


def _tell(question: freshness.Asking) -> None:
    from okf_catalog.catalog.sync import system_clock

    now = system_clock()
    for rest in question.rests.values():
        old = freshness.age_of(rest.synced_at, now)
        since = "looked at now" if rest.is_fresh else f"{age(old)} ago" if old is not None else "age unknown"
        output.note(f"{rest.bundle} is answered as of {rest.synced_at or 'its last sync'} ({since})")
