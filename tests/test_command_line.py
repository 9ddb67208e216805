"""Two readers of one declaration: what `quick` reads it reads as typer does."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from okf_catalog.cli.app import MODULES, quickly
from okf_catalog.cli.declared import parameters
from okf_catalog.cli.typer_app import build, spell_out

_heard: list[dict] = []


def _record(_verb, arguments):
    _heard.append(arguments)
    return 0


_APP = build(MODULES, call=_record)


def by_typer(argv):
    """What typer makes of a command line; None where it refuses."""
    _heard.clear()
    try:
        _APP.main(args=spell_out(argv, _APP.commands[argv[0]]), standalone_mode=False)
    except Exception:
        return None
    return _heard[0] if _heard else None


def by_quick(argv):
    call = quickly(argv)
    return None if call is None else call[1]


def spellings(verb):
    command = _APP.commands[verb]
    if hasattr(command, "commands"):
        command = command.commands["import"]
    return [name for one in command.params for name in (*one.opts, *one.secondary_opts) if name.startswith("-")]


WORDS = st.one_of(
    st.sampled_from(["", "a", "@a", "é", "0", "1", "7", "-1", "-", "--", "1_0", " 1", "٣", "1.5", "99999999999", "x=y", "-x", "list", "import"]),
    st.text(alphabet="ab-=@ 1", max_size=4),
)


@st.composite
def command_lines(draw):
    verb = draw(st.sampled_from(sorted(MODULES)))
    known = spellings(verb)
    argv = [verb]
    for _ in range(draw(st.integers(0, 5))):
        if draw(st.booleans()):
            name = draw(st.sampled_from(known))
            form = draw(st.integers(0, 5))
            argv += {0: [f"{name}={draw(WORDS)}"], 1: [name[: max(3, len(name) - 2)]]}.get(form, [name])
            if form > 2:
                argv.append(draw(WORDS))
        else:
            argv.append(draw(WORDS))
    return argv


@given(command_lines())
@example(["bundles", "", "-v", "--", "--dige"])  # -v is counted and takes no value
@settings(max_examples=1500, deadline=None)
def test_quick_reads_as_typer_reads(argv):
    quick = by_quick(argv)
    if quick is not None:
        assert quick == by_typer(argv)


@pytest.mark.parametrize("line", [
    "search DIR term", "search @a @b two words", "search DIR x --type Metric --type Table --limit 3 --json", "search DIR -e a.c --no-sync",
    "search DIR --in=title x", "find", "find DIR --stale-only --format csv", "show a/b.md -b DIR", "sync DIR OTHER --full", "lint DIR --min-body 20",
    "graph DIR --no-body --json", "dirs DIR --no-ancestors", "registry", "registry set DIR --as x", "registry list --json", "changes --since 7d",
    "stats DIR --json -v", "sql select", "sync --no-include-hidden DIR", "search DIR -- -x", "version",
])  # fmt: skip
def test_plain_lines_need_no_typer(line):
    argv = line.split()
    assert by_quick(argv) == by_typer(argv) is not None


@pytest.mark.parametrize("line", [
    "search DIR x --typ Metric", "search DIR x --limit", "search DIR x --limit many", "search DIR x --limit -1", "search DIR x --unknown",
    "search DIR x -vv", "search --help", "find -h", "show", "show a b", "search DIR x --json=1", "registry nothing", "search DIR x --type --json",
    "server --port 70000", "registry --json",
])  # fmt: skip
def test_the_rest_is_left_to_typer(line):
    assert by_quick(line.split()) is None


def test_two_names_of_one_option_may_be_shortened():
    assert by_typer(["search", "DIR", "x", "--tru", "unverified"])["trusts"] == ["unverified"]
    assert by_typer(["search", "DIR", "x", "--trust-t=unverified"])["trusts"] == ["unverified"]
    assert by_typer(["find", "DIR", "--trust-tier", "unverified"]) == by_typer(["find", "DIR", "--trust", "unverified"])
    assert by_typer(["find", "DIR", "--tru", "unverified"]) is None  # --trust-current, or the tier?


def test_every_parameter_of_every_verb_is_declared():
    for verb in MODULES:
        assert quickly([verb, "--no-such-option"]) is None


def test_a_parameter_that_is_not_declared_is_refused():
    def verb(limit: int = 0) -> int:
        return limit

    with pytest.raises(TypeError, match="limit"):
        parameters(verb)
