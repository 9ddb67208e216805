"""The agent skill that `okf-catalog skill` installs: markdown files, and the way to them."""

from __future__ import annotations

from pathlib import Path

NAME = "okf-catalog"
"""The name of the skill, and of its directory (the two have to be equal)."""


def files() -> dict[str, bytes]:
    """The files of the skill by their path, `SKILL.md` first."""
    root = Path(__file__).parent
    paths = sorted(path for path in root.rglob("*.md"))
    found = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return {"SKILL.md": found.pop("SKILL.md"), **found}
