"""`okf-catalog skill`: install the agent skill."""

from __future__ import annotations

import os
from typing import Annotated

from okf_catalog import agent_skill
from okf_catalog.cli import options, output
from okf_catalog.cli.declared import Argument, Option
from okf_catalog.errors import UsageError

_FOLDER = "skills"
_OTHER = "okf"
"""The directory in which the reference tool installs its skill."""


def skill(
    destination: Annotated[str, Argument(metavar="DEST", help="A project or an agent's directory; the skill goes to DEST/skills/okf-catalog, or to DEST/okf-catalog where DEST is named skills.")],
    here: Annotated[bool, Option("--here", help="Install into DEST itself.")] = False,
    force: Annotated[bool, Option("--force", "-f", help="Install into a directory that is not empty, too.")] = False,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
) -> int:
    """Install the skill that teaches a coding agent to ask this catalog.

    A directory of markdown pages in the format that agents read: what users say as filters,
    which bundle is meant, the way down to one concept. Nothing else is written.
    """
    given = os.path.expanduser(destination)
    target, beside = _target(given, here=here)
    if os.path.lexists(target) and not os.path.isdir(target):
        raise UsageError(f"destination {target} exists and is not a directory")
    if not force:
        if os.path.isdir(target) and os.listdir(target):
            raise UsageError(f"destination {target} is not empty (--force installs into it)")
        if beside is not None and os.path.isdir(beside) and os.listdir(beside):
            raise UsageError(f"another OKF skill is installed in {beside}: an agent would have two for one job (--force installs beside it)")
    files = agent_skill.files()
    for name, content in files.items():
        path = os.path.join(target, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    if as_json or pretty:
        output.dump_json({"skill": agent_skill.NAME, "destination": target, "files": list(files)}, pretty=pretty)
        return 0
    print(f"installed the {agent_skill.NAME} skill ({output.plural(len(files), 'file')}) -> {output.one_line(target)}")
    for name in files:
        print(f"  {name}")
    print("your agent reads SKILL.md when a question is about an OKF bundle")
    return 0


def _target(destination: str, *, here: bool) -> tuple[str, str | None]:
    """Where the skill goes, and where another one would lie."""
    name = os.path.basename(os.path.normpath(os.path.abspath(destination)))
    if here or name == agent_skill.NAME:
        return destination, None
    folder = destination if name == _FOLDER else os.path.join(destination, _FOLDER)
    return os.path.join(folder, agent_skill.NAME), os.path.join(folder, _OTHER)
