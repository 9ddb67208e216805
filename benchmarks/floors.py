"""What no tool of this kind can avoid: the floors that `run.py` compares with, each a process of its own.

    python -I floors.py parse DIR     read every .md file and parse its frontmatter with yaml.CSafeLoader
    python -I floors.py read DIR      read every .md file
    python -I -S floors.py scan DIR W read every .md file, fold its case, look for the folded word W
    python -I -S floors.py stat DIR   walk and stat with os.scandir, into a dict: path -> (mtime_ns, size)

Each prints one line with its counts. They do no more than they must: nothing is checked, errors count as such.
"""

# No other import up here: the cost of starting is part of what is measured.
from __future__ import annotations

import os
import sys


def stat_files(root: str) -> dict[str, tuple[int, int]]:
    """Every .md file below `root` with its mtime in nanoseconds and its size in bytes."""
    found: dict[str, tuple[int, int]] = {}
    pending = [root]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif entry.name.endswith(".md"):
                    stat = entry.stat()
                    found[entry.path] = (stat.st_mtime_ns, stat.st_size)
    return found


def md_paths(root: str) -> list[str]:
    """Every .md file below `root`, without a stat."""
    found: list[str] = []
    pending = [root]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif entry.name.endswith(".md"):
                    found.append(entry.path)
    return found


def read_bytes(path: str) -> bytes:
    """The file's bytes, by plain system calls: a third of the cost of `open()` for files of this size."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        chunks = []
        while chunk := os.read(descriptor, 1 << 16):
            chunks.append(chunk)
            if len(chunk) < 1 << 16:
                break
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)
    finally:
        os.close(descriptor)


def read_all(root: str) -> str:
    """Read everything and count it."""
    paths = md_paths(root)
    total = sum(len(read_bytes(path)) for path in paths)
    return f"{len(paths)} files, {total} bytes"


def parse_all(root: str) -> str:
    """Read everything, split at the fences, parse the frontmatter; count what came out."""
    import yaml

    if not yaml.__with_libyaml__:
        raise SystemExit("PyYAML here has no libyaml: the floor would be nine times too high")

    def parse(path: str) -> str:
        try:
            text = read_bytes(path).decode("utf-8")
            if "\r" in text:
                text = text.replace("\r\n", "\n")
            end = text.find("\n---\n", 3) if text.startswith("---\n") else -1
            if end < 0:
                return "without frontmatter"
            loaded = yaml.load(text[4 : end + 1], Loader=yaml.CSafeLoader)
        except (yaml.YAMLError, ValueError):
            return "errors"
        return "mappings" if isinstance(loaded, dict) else "others"

    counts: dict[str, int] = {}
    for path in md_paths(root):
        result = parse(path)
        counts[result] = counts.get(result, 0) + 1
    return ", ".join(f"{count} {result}" for result, count in sorted(counts.items()))


def scan_all(root: str, word: str) -> str:
    """Look for a word in everything, whatever its case, and count the files that hold it."""
    import unicodedata

    paths = md_paths(root)
    texts = (read_bytes(path).decode("utf-8", "replace") for path in paths)
    return f"{sum(word in unicodedata.normalize('NFC', text).casefold() for text in texts)} of {len(paths)} files"


def main(argv: list[str]) -> int:
    """Run the floor that the first argument names on the directory that the second names."""
    match argv:
        case ["parse", root]:
            print(parse_all(root))
        case ["read", root]:
            print(read_all(root))
        case ["scan", root, word]:
            print(scan_all(root, word))
        case ["stat", root]:
            print(f"{len(stat_files(root))} files")
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
