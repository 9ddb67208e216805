"""Bundles and files of sizes that nobody planned for."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import time

from okf_catalog.catalog.plan import diff
from tests.faults.place import Place, fault, note

BOMB = "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)])


def measured(place: Place, *arguments: object) -> tuple[str, float, int]:
    """(stdout, CPU seconds, peak bytes) of a run that succeeds."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "sys.stdout.write(done.stdout); sys.stderr.write(done.stderr)\n"
        "u = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(); print(done.returncode, u.ru_utime + u.ru_stime, u.ru_maxrss * 1024)\n"
    )
    command = [sys.executable, "-c", code, sys.executable, "-m", "okf_catalog", *map(str, arguments)]
    done = subprocess.run(command, env=place.environment, capture_output=True, text=True, check=True)
    out, _, last = done.stdout.rstrip("\n").rpartition("\n")
    status, cpu, peak = last.split()
    assert status == "0", done.stderr
    return out, float(cpu), int(peak)


@fault("1,000,000 tiny files in one directory", "memory grows with the names and stamps of one directory, not with texts; a sync without changes costs the walk alone")
def a_million_files(place: Place, full: bool) -> str:
    count = 1_000_000 if full else 5000
    # The comparison itself, on names alone.
    began = time.process_time()
    listing = [(f"{number:07}.md", (number, number, 30, number)) for number in range(200_000)]
    edited = [(name, (stamp[0] + (position % 100 == 0), *stamp[1:])) for position, (name, stamp) in enumerate(listing) if position % 1000]
    changes = list(diff(listing, edited))
    assert len(changes) == 2000 - 0
    planned = time.process_time() - began
    root = place.directory / "bundle"
    root.mkdir()
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for number in range(count):
        descriptor = os.open(f"{number:07}.md", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=directory)
        os.write(descriptor, b"---\ntype: N\n---\nw%d\n" % number)
        os.close(descriptor)
    os.close(directory)
    out, cold, peak = measured(place, "sync", root, "--json")
    assert json.loads(out)["concepts"] == count
    time.sleep(2.1)
    measured(place, "sync", root, "--json")
    _, again, peak_again = measured(place, "sync", root, "--json")
    (root / "0000007.md").write_text("---\ntype: N\n---\nother\n")
    out, one, _ = measured(place, "sync", root, "--json")
    assert [change["path"] for change in json.loads(out)["changed"]] == ["0000007.md"]
    text = (
        f"{count:,} files: first sync {cold:.0f} s CPU and {peak // 10**6} MB, without changes {again:.1f} s and {peak_again // 10**6} MB, "
        f"one changed {one:.1f} s; plan.py compares 200,000 names in {planned:.2f} s"
    )
    if count <= 100_000:
        text += "; " + place.equals_fresh()
    else:
        connection = sqlite3.connect(place.path)
        assert connection.execute("select count(*), count(distinct content_hash) from concepts").fetchone() == (count, count)
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        connection.close()
    return text


@fault("a file of 200 MB", "a parse error that says so; memory as without it")
def huge_file(place: Place, full: bool) -> str:
    root = place.bundle({"a.md": note("a")})
    _, _, peak_without = measured(place, "sync", root)
    size = 200_000_000 if full else 20_000_000
    with open(root / "huge.md", "wb") as file:
        file.write(b"---\ntype: N\n---\n")
        file.write(b"word " * (size // 5))
    with open(root / "frontmatter.md", "wb") as file:
        file.write(b"---\ntype: N\nx: " + b"y" * 15_000_000 + b"\n---\n")
    _, cpu, peak = measured(place, "sync", root)
    assert place.query("select path, code from parse_errors order by path") == [("frontmatter.md", "too_large"), ("huge.md", "too_large")]
    assert peak < peak_without + 150_000_000
    return f"{size:,} bytes: too_large after {cpu:.1f} s CPU, peak {peak // 10**6} MB ({peak_without // 10**6} MB without); {place.equals_fresh()}"


@fault("100,000 tags on one concept", "a concept like any other")
def many_tags(place: Place, full: bool) -> str:
    count = 100_000 if full else 10_000
    tags = ", ".join(f"t{number}" for number in range(count))
    root = place.bundle({"a.md": f"---\ntype: N\ntags: [{tags}]\n---\n", "b.md": note("b")})
    _, cpu, peak = measured(place, "sync", root)
    found = place.query("select count(*) from tags")[0][0]
    if found != count:
        assert place.query("select path, code from parse_errors") == [("a.md", "yaml_limits")]
        return f"refused as yaml_limits; {place.equals_fresh()}"
    asked = place.cli("find", root, "--tag", f"t{count - 1}", "--json")
    assert json.loads(asked.stdout)["count"] == 1
    return f"{count:,} tags in {cpu:.1f} s CPU and {peak // 10**6} MB, the last one found; {place.equals_fresh()}"


@fault("deeply nested YAML and markdown", "a parse error with a cause, or a concept; never an endless run")
def nesting(place: Place, full: bool) -> str:
    depth = 100_000 if full else 20_000
    bodies = {"brackets": "[" * depth, "quotes": "> " * depth + "x", "lists": "\n".join(" " * (2 * n) + "- x" for n in range(400)),
              "emphasis": "*_" * depth, "links": "[a](" * depth, "images": "![" * depth, "html": "<a " * depth, "fences": "`" * depth}  # fmt: skip
    fronts = {"flow": "x: " + "[" * depth + "]" * depth, "maps": "x: " + "{a: " * depth + "}" * depth, "dashes": "x:\n  " + "- " * depth + "y",
              "indent": "\n".join(" " * n + f"k{n}:" for n in range(2000)), "keys": "? " * depth, "anchors": "\n".join(f"k{n}: &a{n} x" for n in range(5000))}  # fmt: skip
    root = place.bundle({f"body-{name}.md": note("n", text) for name, text in bodies.items()}
                        | {f"front-{name}.md": f"---\ntype: N\n{text}\n---\n" for name, text in fronts.items()})  # fmt: skip
    _, cpu, peak = measured(place, "sync", root)
    errors = dict(place.query("select code, count(*) from parse_errors group by code"))
    concepts = place.query("select count(*) from concepts")[0][0]
    assert concepts + sum(errors.values()) == len(bodies) + len(fronts)
    return f"{len(bodies) + len(fronts)} files up to {depth:,} deep in {cpu:.1f} s CPU and {peak // 10**6} MB: {concepts} concepts, {errors}; {place.equals_fresh()}"


@fault("alias bombs", "a parse error within a bounded time and memory")
def alias_bombs(place: Place, full: bool) -> str:
    wide = "a: &a " + "x" * 50_000 + "\nb: [" + ", ".join(["*a"] * 2000) + "]"
    merge = "\n".join(["m0: &m0 {a: 1}"] + [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}" for n in range(1, 12)])
    cycle = "a: &a [*a]"
    keys = "a: &a {b: c}\n? *a\n: x"
    files = {"bomb": BOMB, "wide": wide, "merge": merge, "cycle": cycle, "keys": keys}
    root = place.bundle({f"{name}.md": f"---\ntype: N\n{text}\n---\n" for name, text in files.items()} | {"good.md": note("good")})
    _, cpu, peak = measured(place, "sync", root)
    errors = dict(place.query("select path, code from parse_errors"))
    assert errors.get("bomb.md") == "yaml_limits"
    assert errors.get("wide.md") == "yaml_limits"
    assert peak < 400_000_000
    assert place.query("select count(*) from concepts where path = 'good.md'") == [(1,)]
    return f"{len(files)} bombs in {cpu:.1f} s CPU and {peak // 10**6} MB, refused: {sorted(errors)}; {place.equals_fresh()}"


def peak_of_this_process() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
