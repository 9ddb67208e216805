"""Which files make a bundle, and how they are read (OKF §3)."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from okf_catalog import bundle as files
from okf_catalog.bundle import MAX_DEPTH, MAX_FILE, Content, Directory, Skipped, Unreadable, walk
from okf_catalog.errors import BundleError
from okf_catalog.format.problem import Failure

NOBODY = 65534
TEXT = "---\ntype: T\n---\ntext\n"


def paths(root: Path, *, include_hidden: bool = False, skipped: Skipped | None = None) -> list[str]:
    """The markdown files that a walk finds, as it finds them."""
    found = []
    for each in walk(str(root), skipped or Skipped(), include_hidden=include_hidden):
        assert isinstance(each, Directory), each
        assert len(each.stamps) == 4 * len(each.names)
        found += [name if each.path == "." else f"{each.path}/{name}" for name in each.names]
    return found


def read(root: Path, path: str) -> Content | Failure | None:
    root_fd = files.open_root(str(root))
    try:
        directory_fd = files.open_directory(root_fd, os.path.dirname(path) or ".")
        try:
            return files.read(root_fd, str(root), directory_fd, path)
        finally:
            os.close(directory_fd)
    finally:
        os.close(root_fd)


def code(root: Path, path: str) -> str:
    found = read(root, path)
    assert isinstance(found, Failure), found
    assert found.message
    assert found.advice
    return found.code


def text(root: Path, path: str) -> str:
    found = read(root, path)
    assert isinstance(found, Content), found
    return found.data.decode()


def test_every_markdown_file_in_byte_order(bundle) -> None:
    root = bundle(dict.fromkeys(
        ["b.md", "B.md", "a-b.md", "a.md", "é.md", "漢.md", "Z.MD", "z/1.md", "z/a/2.Md", "z.md", "a/x.md", "a b/y.md",
         "index.md", "a/log.md", "a.markdown", "a.txt", "md", "x.md.bak", "😀.md", "\ufffd.md"],
        TEXT,
    ))  # fmt: skip
    assert paths(root) == [
        "B.md", "Z.MD", "a-b.md", "a.md", "b.md", "index.md", "z.md", "é.md", "漢.md", "\ufffd.md", "😀.md",
        "a/log.md", "a/x.md", "a b/y.md", "z/1.md", "z/a/2.Md",
    ]  # fmt: skip


def test_a_directory_with_the_name_of_a_file_is_entered(bundle) -> None:
    assert paths(bundle({"a.md/b.md": TEXT})) == ["a.md/b.md"]


def test_hidden_and_vendored_entries_are_counted_and_left_out(bundle) -> None:
    root = bundle(dict.fromkeys(
        ["a.md", ".b.md", ".git/c.md", ".obsidian/d.md", "x/.e/f.md", "node_modules/g.md", "x/node_modules/h/i.md",
         "node_modules.md", "x/.hidden.txt", "..j.md"],
        TEXT,
    ))  # fmt: skip
    skipped = Skipped()
    assert paths(root, skipped=skipped) == ["a.md", "node_modules.md"]
    assert (skipped.hidden, skipped.ignored) == (7, 0)


def test_hidden_entries_can_be_included_but_never_git(bundle) -> None:
    root = bundle(dict.fromkeys(["a.md", ".b.md", ".git/c.md", ".x/d.md", "node_modules/g.md", "x/.git/e.md"], TEXT))
    assert paths(root, include_hidden=True) == [".b.md", "a.md", ".x/d.md", "node_modules/g.md"]


@pytest.mark.parametrize("name", [".okf", "node_modules", "br[ack]et*{x}?", "a b", "漢", "-n"])
def test_the_root_may_have_any_name(bundle, name: str) -> None:
    root = bundle({"a.md": TEXT, "b[1]*.md": TEXT, "c{d}?/e.md": TEXT}, name=name)
    assert paths(root) == ["a.md", "b[1]*.md", "c{d}?/e.md"]
    assert text(root, "b[1]*.md") == TEXT
    assert text(root, "c{d}?/e.md") == TEXT


def test_the_root_may_be_a_link(bundle, tmp_path: Path) -> None:
    root = bundle({"a.md": TEXT, "x/c.md": TEXT})
    (root / "b.md").symlink_to("x/c.md")
    link = tmp_path / "link"
    link.symlink_to(root)
    assert paths(link) == ["a.md", "b.md", "x/c.md"]
    assert text(link, "b.md") == TEXT


@pytest.mark.parametrize(
    ("ignore", "kept"),
    [
        pytest.param("", ["a.md", "b.md", "drafts/a.md", "drafts/b.md", "x/drafts/c.md"], id="empty"),
        pytest.param("drafts/\n", ["a.md", "b.md"], id="a directory at any depth"),
        pytest.param("/drafts\n", ["a.md", "b.md", "x/drafts/c.md"], id="anchored"),
        pytest.param("a.md\n", ["b.md", "drafts/b.md", "x/drafts/c.md"], id="a name at any depth"),
        pytest.param("/a.md\n", ["b.md", "drafts/a.md", "drafts/b.md", "x/drafts/c.md"], id="an anchored name"),
        pytest.param("*.md\n!b.md\n", ["b.md", "drafts/b.md"], id="negation"),
        pytest.param("drafts/\n!drafts/b.md\n", ["a.md", "b.md"], id="nothing comes back from below a directory"),
        pytest.param("drafts/*\n!drafts/b.md\n", ["a.md", "b.md", "drafts/b.md", "x/drafts/c.md"], id="files one by one"),
        pytest.param("**/c.md\n", ["a.md", "b.md", "drafts/a.md", "drafts/b.md"], id="double star"),
        pytest.param("# a.md\n\n\\#x\n", ["a.md", "b.md", "drafts/a.md", "drafts/b.md", "x/drafts/c.md"], id="remarks"),
        pytest.param("a.md  \r\nb.md\r\n", ["x/drafts/c.md"], id="CRLF and blanks"),
        pytest.param("\ufeffa.md\n", ["b.md", "drafts/b.md", "x/drafts/c.md"], id="byte-order mark"),
        pytest.param("!\n///\na.md\n", ["b.md", "drafts/b.md", "x/drafts/c.md"], id="an invalid pattern among others"),
        pytest.param("[\n[z-a]\na.md\n", ["b.md", "drafts/b.md", "x/drafts/c.md"], id="open bracket"),
        pytest.param("A.MD\n", ["a.md", "b.md", "drafts/a.md", "drafts/b.md", "x/drafts/c.md"], id="case matters"),
    ],
)  # fmt: skip
def test_okfignore(bundle, ignore: str, kept: list[str]) -> None:
    names = ["a.md", "b.md", "drafts/a.md", "drafts/b.md", "x/drafts/c.md"]
    assert paths(bundle({".okfignore": ignore, **dict.fromkeys(names, TEXT)})) == kept


def test_okfignore_below_speaks_for_its_directory(bundle) -> None:
    names = ["a.md", "b.md", "x/a.md", "x/b.md", "x/y/a.md", "x/y/b.md", "z/a.md"]
    root = bundle({".okfignore": "a.md\n", "x/.okfignore": "!a.md\n/b.md\n", **dict.fromkeys(names, TEXT)})
    skipped = Skipped()
    assert paths(root, skipped=skipped) == ["b.md", "x/a.md", "x/y/a.md", "x/y/b.md"]
    assert skipped.ignored == 3


@pytest.mark.parametrize("kind", ["directory", "fifo", "broken link", "not UTF-8"])
def test_an_okfignore_that_is_no_file_hides_nothing(bundle, kind: str) -> None:
    root = bundle({"a.md": TEXT})
    ignore = root / ".okfignore"
    if kind == "directory":
        ignore.mkdir()
    elif kind == "fifo":
        os.mkfifo(ignore)
    elif kind == "broken link":
        ignore.symlink_to("gone")
    else:
        ignore.write_bytes(b"\xff\xfe\n")
    assert paths(root) == ["a.md"]


def test_links_inside_the_bundle_are_read(bundle) -> None:
    root = bundle({"x/a.md": TEXT, "y/z/keep.txt": "", "..odd.md": TEXT})
    (root / "b.md").symlink_to("x/a.md")
    (root / "y/z/c.md").symlink_to("../../x/a.md")
    (root / "d.md").symlink_to(root / "x" / "a.md")
    (root / "e.md").symlink_to("b.md")
    (root / "f.md").symlink_to("..odd.md")
    assert paths(root) == ["b.md", "d.md", "e.md", "f.md", "x/a.md", "y/z/c.md"]
    assert {text(root, path) for path in paths(root)} == {TEXT}


def test_links_out_of_the_bundle_are_refused(bundle, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(TEXT)
    (tmp_path / "bundle-2").mkdir()
    (tmp_path / "bundle-2/a.md").write_text(TEXT)
    root = bundle({".git/notes.md": TEXT, "x/keep.txt": ""})
    for name, target in {
        "relative.md": "../outside.md",
        "absolute.md": str(outside),
        "sibling.md": "../bundle-2/a.md",
        "git.md": ".git/notes.md",
        "x/up.md": "../../outside.md",
        "twice.md": "relative.md",
        "device.md": "/dev/zero",
        "gone-outside.md": "../gone.md",
    }.items():
        (root / name).symlink_to(target)
        assert code(root, name) == "link_outside", name
    assert len(paths(root)) == 8


def test_a_link_through_a_linked_directory_that_leaves_is_refused(bundle, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.md").write_text(TEXT)
    root = bundle({"keep.md": TEXT})
    (root / "door").symlink_to(tmp_path / "elsewhere")
    (root / "a.md").symlink_to("door/a.md")
    assert paths(root) == ["a.md", "keep.md"]
    assert code(root, "a.md") == "link_outside"
    with pytest.raises(OSError):
        files.open_directory(files.open_root(str(root)), "door")


@pytest.mark.parametrize("target", ["gone.md", "loop.md", "keep.md/a.md"])
def test_links_to_nothing(bundle, target: str) -> None:
    root = bundle({"keep.md": TEXT})
    (root / "loop.md").symlink_to(target)
    assert paths(root) == ["keep.md", "loop.md"]
    assert code(root, "loop.md") == "link_broken"


def test_links_to_directories_are_not_entered(bundle) -> None:
    root = bundle({"x/a.md": TEXT})
    (root / "x/loop").symlink_to("..")
    (root / "x/b.md").symlink_to(".")
    (root / "y").symlink_to("x")
    assert paths(root) == ["x/a.md"]


@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_what_is_no_regular_file_is_refused_at_once(bundle, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    root = bundle({"a.md": TEXT})
    monkeypatch.chdir(root)  # the name of a socket may have 107 bytes
    if kind == "fifo":
        os.mkfifo("x.md")
    else:
        socket.socket(socket.AF_UNIX).bind("x.md")
    assert paths(root) == ["a.md", "x.md"]
    assert code(root, "x.md") == "unreadable"


def test_a_fifo_in_a_bundle_does_not_stop_a_sync(bundle, run_cli, catalog) -> None:
    root = bundle({"a.md": TEXT})
    os.mkfifo(root / "x.md")
    assert run_cli("sync", root)[0] == 0
    assert catalog("select path, code from parse_errors") == [("x.md", "unreadable")]


def as_nobody(action: Callable[[], Any]) -> Any:
    """What `action` returns, as JSON, from a child process that is not root."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writer, json.dumps(action()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return json.loads(answer)


def with_rights(action: Callable[[], Any]) -> Any:
    return as_nobody(action) if os.geteuid() == 0 else action()


def test_files_and_directories_without_permission(bundle) -> None:
    root = bundle({"a.md": TEXT, "b.md": TEXT, "x/c.md": TEXT, "y/d.md": TEXT})
    root.chmod(0o755)
    (root / "b.md").chmod(0)
    (root / "x").chmod(0)
    root_fd = files.open_root(str(root))

    def look() -> dict[str, Any]:
        found = list(walk(str(root), Skipped(), root_fd=root_fd))
        content = files.read(root_fd, str(root), root_fd, "b.md")
        return {
            "names": [[each.path, each.names] for each in found if isinstance(each, Directory)],
            "unreadable": [list(each) for each in found if isinstance(each, Unreadable)],
            "b": content.code if isinstance(content, Failure) else None,
            "message": content.message if isinstance(content, Failure) else None,
        }

    try:
        answer = with_rights(look)
    finally:
        (root / "x").chmod(0o755)
        os.close(root_fd)
    assert answer == {
        "names": [[".", ["a.md", "b.md"]], ["y", ["d.md"]]],
        "unreadable": [["x", "Permission denied"]],
        "b": "unreadable",
        "message": "Permission denied",
    }


def test_a_root_without_permission(bundle) -> None:
    root = bundle({"a.md": TEXT})
    root.chmod(0)

    def look() -> str:
        try:
            os.chdir("/")
            list(walk(str(root), Skipped()))
        except BundleError as problem:
            return str(problem)
        return ""

    try:
        assert "cannot read" in with_rights(look)
    finally:
        root.chmod(0o755)


@pytest.mark.parametrize("name", ["gone", "file.md", "bundle\0x"])
def test_a_root_that_is_no_directory(bundle, tmp_path: Path, name: str) -> None:
    bundle({"a.md": TEXT})
    (tmp_path / "file.md").write_text(TEXT)
    with pytest.raises(BundleError):
        list(walk(f"{tmp_path}/{name}", Skipped()))


def test_too_many_levels_are_reported(tmp_path: Path) -> None:
    root = tmp_path / "bundle"
    root.mkdir()
    descriptor = files.open_root(str(root))
    for _ in range(MAX_DEPTH + 5):
        os.mkdir("d", dir_fd=descriptor)
        child = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(os.open("a.md", os.O_WRONLY | os.O_CREAT, dir_fd=child))
        os.close(descriptor)
        descriptor = child
    os.close(descriptor)
    found = list(walk(str(root), Skipped()))
    assert [each.path.count("/") for each in found if isinstance(each, Unreadable)] == [MAX_DEPTH]
    assert sum(len(each.names) for each in found if isinstance(each, Directory)) == MAX_DEPTH


def test_large_files(bundle) -> None:
    root = bundle({"fits.md": "", "large.md": ""})
    os.truncate(root / "fits.md", MAX_FILE)
    os.truncate(root / "large.md", MAX_FILE + 1)
    found = read(root, "fits.md")
    assert isinstance(found, Content)
    assert len(found.data) == MAX_FILE
    assert code(root, "large.md") == "too_large"


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system refuses such names")
def test_names_that_are_not_utf8(bundle, run_cli, catalog) -> None:
    root = bundle({"a.md": TEXT})
    (Path(os.fsdecode(bytes(root) + b"/caf\xe9.md"))).write_text(TEXT)
    Path(os.fsdecode(bytes(root) + b"/d\xff")).mkdir()
    Path(os.fsdecode(bytes(root) + b"/d\xff/e.md")).write_text(TEXT)
    assert paths(root) == ["a.md", "caf\udce9.md", "d\udcff/e.md"]
    assert code(root, "caf\udce9.md") == "file_name"
    assert run_cli("sync", root)[0] == 0
    assert catalog("select path, code from parse_errors order by path") == [
        ("caf\\xe9.md", "file_name"),
        ("d\\xff/e.md", "file_name"),
    ]


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system refuses such names")
@pytest.mark.parametrize("verb", ["sync", "find", "validate"])
def test_a_root_that_is_not_utf8_is_refused_in_one_line(bundle, run_cli, verb: str) -> None:
    root = bundle({"a.md": TEXT}, name="r\udcff")
    status, out, err = run_cli(verb, root)
    assert (status, out) == (2, "")
    assert "not valid UTF-8" in err
    assert err.count("\n") == 1


def test_reserved_files_that_cannot_be_used_are_no_concepts(bundle, run_cli, catalog) -> None:
    root = bundle({"a.md": TEXT, "index.md": b"\xff", "x/log.md": b"\xff", "y/INDEX.md": "no fences"})
    (root / "x/index.md").symlink_to("/dev/null")
    found = json.loads(run_cli("find", root, "--json")[1])
    assert [row["path"] for row in found["concepts"]] == ["a.md", "y/INDEX.md"]
    assert (found["count"], found["parse_errors"]) == (1, 1)
    counts = json.loads(run_cli("validate", root, "--json")[1])["counts"]
    assert counts == {"concepts": 2, "indexes": 1, "logs": 0}
    run_cli("sync", root)
    assert catalog("select path from parse_errors order by path") == ["index.md", "x/index.md", "x/log.md", "y/INDEX.md"]


def test_names_with_odd_characters(bundle, run_cli) -> None:
    names = ["a\\b.md", "c\nd.md", "e'f\".md", "g%20h.md", "i;j.md", " k .md", "~l.md", "-m.md", "n\tо.md"]
    root = bundle(dict.fromkeys(names, TEXT))
    assert paths(root) == sorted(names)
    assert run_cli("sync", root)[0] == 0
    found = json.loads(run_cli("find", root, "--json")[1])
    assert [row["path"] for row in found["concepts"]] == sorted(names)


def test_a_file_that_vanished_is_none(bundle) -> None:
    assert read(bundle({"a.md": TEXT}), "b.md") is None


def test_stamps_change_with_the_file(bundle) -> None:
    root = bundle({"a.md": TEXT, "b.md": TEXT})
    (root / "c.md").symlink_to("b.md")

    def stamps() -> list[tuple[int, ...]]:
        found = next(iter(walk(str(root), Skipped())))
        assert isinstance(found, Directory)
        return [tuple(found.stamps[at : at + 4]) for at in (0, 4, 8)]

    before = stamps()
    assert before == stamps()
    time.sleep(0.02)
    (root / "b.md").write_text(TEXT + "more")
    after = stamps()
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert after[2] != before[2]  # the file that the link leads to


def test_a_file_that_grows_while_it_is_read(bundle) -> None:
    root = bundle({"a.md": ""})
    whole = b"".join(b"%07d\n" % number for number in range(40_000))
    done = threading.Event()

    def grow() -> None:
        with open(root / "a.md", "ab", buffering=0) as stream:
            stream.writelines(whole[at : at + 100] for at in range(0, len(whole), 100))
        done.set()

    writer = threading.Thread(target=grow)
    writer.start()
    while True:
        last = done.is_set()
        found = read(root, "a.md")
        assert isinstance(found, Content)
        assert whole.startswith(found.data)
        if last:
            break
    writer.join()
    assert read(root, "a.md") == Content(whole, settled=True)


def test_the_last_version_of_a_file_that_keeps_changing_is_found(bundle, run_cli) -> None:
    root = bundle({"a.md": TEXT})
    stop = threading.Event()
    version = 0

    def rewrite() -> None:
        nonlocal version
        while not stop.is_set():
            version += 1
            with open(root / "a.md", "r+") as stream:  # in place: same inode, same size
                stream.write(f"---\ntype: T\ntitle: v{version:09}\n---\n")
                stream.truncate()

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        for _ in range(5):
            assert run_cli("sync", root)[0] == 0
    finally:
        stop.set()
        writer.join()
    found = json.loads(run_cli("find", root, "--json")[1])
    assert [row["title"] for row in found["concepts"]] == [f"v{version:09}"]


def test_nothing_is_written_into_a_bundle(bundle, run_cli) -> None:
    root = bundle({"a.md": TEXT, "x/b.md": "broken", "index.md": "# Contents\n"})

    def state() -> list[tuple[str, int, int]]:
        return sorted((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in [root, *root.rglob("*")])

    before = state()
    for verb in (["sync", root], ["find", root], ["validate", root], ["show", "a", "-b", root], ["sync", root, "--full"]):
        run_cli(*verb)
    assert state() == before
