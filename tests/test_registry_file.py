"""The registry file: shapes that are read, rows that are repaired, writers that meet."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from okf_catalog.registry import store
from okf_catalog.registry.document import dump, parse
from okf_catalog.registry.errors import MalformedError, RegistryError
from okf_catalog.registry.place import Place
from tests.conftest import process
from tests.test_registry import entry, home_file, listed, refused, stored, write

GLOBAL = Place("/home/x/.okf/registry.json", None)
LOCAL = Place("/project/.okf.json", "/project")


def slugs_in(text: str) -> list[str]:
    registry = parse(text, GLOBAL)
    return [row.slug for row in (*registry.bundles, *registry.groups, *registry.links)]


# Reading


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"bundles": null}', '{"bundles": [], "groups": [], "links": []}', "\ufeff{}"]
)
def test_empty_registries(run_cli, text):
    home_file().parent.mkdir()
    home_file().write_text(text)
    assert listed(run_cli)["count"] == 0


def test_the_first_shape_of_the_file_was_a_list():
    assert slugs_in('[{"slug": "a", "path": "/a", "title": "t"}]') == ["a"]


def test_a_missing_title_is_the_last_segment_of_the_path():
    registry = parse('[{"slug": "a", "path": "/x/docs/"}, {"slug": "b", "path": "/x/y", "title": 3}]', GLOBAL)
    assert [bundle.title for bundle in registry.bundles] == ["docs", "y"]


@pytest.mark.parametrize("text", [
    "{ nope", "", "3", '"x"', '{"bundles": {}}', '{"groups": 1}', "[" * 100_000,
    '[{"slug": "a"}]', '[{"path": "/a"}]', '[{"slug": 1, "path": "/a"}]', '[{"slug": "a", "path": ""}]', "[7]",
    '[{"slug": "a", "path": "/a\\u0000b"}]', '{"groups": [{"slug": "g"}]}', '{"groups": [{"slug": "g", "members": "a"}]}',
    '{"groups": [{"slug": "g", "members": [1]}]}', '{"links": [{"slug": "l"}]}', '{"links": [{"slug": "l", "registry": ""}]}',
], ids=lambda text: text[:40])  # fmt: skip
def test_malformed_files_are_named_with_the_way_out(run_cli, text):
    home_file().parent.mkdir()
    home_file().write_text(text)
    for line in (["list"], ["set", "."], ["default", "a"], ["rename", "a", "b"], ["group", "g", "a"]):
        message = refused(run_cli, "registry", *line)
        assert f"malformed registry at {home_file()}" in message
        assert "fix or delete the file" in message
    assert home_file().read_text() == text


def test_a_file_that_is_not_utf8_or_cannot_be_read(run_cli):
    home_file().parent.mkdir()
    home_file().write_bytes(b'{"bundles": [], "x": "\xff"}')
    assert "UTF-8" in refused(run_cli, "registry", "list")
    home_file().unlink()
    home_file().mkdir()
    assert f"cannot read registry at {home_file()}" in refused(run_cli, "registry", "list")
    assert f"cannot read registry at {home_file()}" in refused(run_cli, "registry", "del", "x")


def test_damaged_rows_can_be_removed_by_name(run_cli, tmp_path):
    home_file().parent.mkdir()
    home_file().write_text(json.dumps({
        "bundles": [{"slug": "Bad One"}, entry(tmp_path, "good")], "groups": [{"slug": "worse"}],
        "links": [{"slug": "lost"}],
    }))  # fmt: skip
    assert "registry del bad-one" in refused(run_cli, "registry", "list")
    assert run_cli("registry", "del", "@bad-one")[1] == "removed bad-one\n"
    assert "registry del worse" in refused(run_cli, "registry", "list")
    assert run_cli("registry", "del", "worse")[0] == 0
    assert run_cli("registry", "unlink", "lost")[1] == "unlinked lost\n"
    assert [row["slug"] for row in listed(run_cli)["bundles"]] == ["good"]


def test_other_repairs_leave_damaged_rows_as_they_are(run_cli, tmp_path):
    home_file().parent.mkdir()
    home_file().write_text(json.dumps({"bundles": [{"path": "/no/slug"}, entry(tmp_path, "good")]}))
    assert run_cli("registry", "del", "good")[0] == 0
    assert json.loads(home_file().read_text())["bundles"] == [{"path": "/no/slug"}]


# Names that are stored wrong


@pytest.mark.parametrize(("written", "read"), [
    (["My Docs"], ["my-docs"]),
    (["all"], ["all-2"]),
    (["***"], ["bundle"]),
    ([""], ["bundle"]),
    (["My Docs", "my-docs"], ["my-docs-2", "my-docs"]),
    (["a", "a"], ["a", "a-2"]),
    (["ALL", "all-2"], ["all-3", "all-2"]),
], ids=str)  # fmt: skip
def test_names_that_no_lookup_reaches_are_made_anew(written, read):
    text = json.dumps([{"slug": slug, "path": f"/{number}"} for number, slug in enumerate(written)])
    assert slugs_in(text) == read


def test_one_namespace_bundles_first():
    assert slugs_in(json.dumps({
        "bundles": [{"slug": "X", "path": "/x"}], "groups": [{"slug": "X", "members": ["x"]}, {"slug": "y", "members": ["x"]}],
        "links": [{"slug": "y", "registry": "/r.json"}],
    })) == ["x", "x-2", "y", "y-2"]  # fmt: skip


def test_repaired_names_are_found_and_saved_by_the_next_change(run_cli, tmp_path):
    write(home_file(), [entry(tmp_path, "My Docs")], {"All": ["MY DOCS", "my-docs", "***"], "empty": ["--"]})
    before = home_file().read_bytes()
    assert [row["slug"] for row in listed(run_cli)["bundles"]] == ["my-docs"]
    assert home_file().read_bytes() == before
    assert run_cli("registry", "default", "@My-Docs")[0] == 0
    assert stored() == (["my-docs"], {"all-2": ["my-docs"]})


# Writing


def test_what_is_read_is_written():
    text = json.dumps({
        "bundles": [{"slug": "a", "path": "docs", "title": "Ü", "note": [1]}], "groups": [{"slug": "g", "members": ["a"], "by": "x"}],
        "links": [{"slug": "l", "registry": "~/r.json", "since": 3}], "$schema": "s",
    })  # fmt: skip
    written = dump(parse(text, LOCAL))
    assert json.loads(written) == json.loads(text)
    assert dump(parse(written.decode(), LOCAL)) == written
    assert "Ü".encode() in written


def test_a_path_that_is_not_utf8_is_refused(run_cli, tmp_path):
    root = os.fsencode(tmp_path) + b"/d\xff"
    try:
        os.mkdir(root)
    except OSError:
        pytest.skip("this file system wants UTF-8")
    status, out, err = run_cli("registry", "set", os.fsdecode(root))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "UTF-8" in err
    assert listed(run_cli)["bundles"] == []


def test_a_link_into_another_directory_stays_one_and_the_mode_is_kept(run_cli, tmp_path):
    real = write(tmp_path / "dotfiles" / "registry.json")
    real.chmod(0o600)
    home_file().parent.mkdir()
    home_file().symlink_to(real)
    assert run_cli("registry", "set", tmp_path)[0] == 0
    assert home_file().is_symlink()
    assert stored(real)[0]
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written(run_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("OKF_HOME", "/proc/okf")  # root cannot write there either
    assert "cannot write registry at /proc/okf/registry.json" in refused(run_cli, "registry", "set", tmp_path)


def test_an_error_in_the_block_writes_nothing(tmp_path):
    place = Place(str(write(tmp_path / "r.json", [entry(tmp_path)])), None)
    before = Path(place.file).read_bytes()
    with pytest.raises(RegistryError), store.editing(place) as registry:
        registry.bundles.clear()
        raise RegistryError("no")
    assert Path(place.file).read_bytes() == before


def test_what_a_killed_writer_left_is_used_up(run_cli, tmp_path):
    home_file().parent.mkdir()
    (home_file().parent / ".registry.json.new").write_text("half of i")
    assert run_cli("registry", "set", tmp_path)[0] == 0
    assert [path.name for path in home_file().parent.iterdir()] == ["registry.json"]


# Two at once


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    roots = [tmp_path / f"b{number}" for number in range(12)]
    for root in roots:
        root.mkdir()
    code = (
        "import sys; from okf_catalog.cli import main\n"
        "for root in sys.argv[1:]:\n"
        "    assert main(['registry', 'set', root]) == 0\n"
        "    assert main(['registry', 'group', 'g', '@' + root.rpartition('/')[2]]) == 0\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, *map(str, roots[start::2])], stdout=subprocess.DEVNULL)
        for start in (0, 1)
    ]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        store.load(Place(str(home_file()), None))  # raises where the file is torn
        reads += 1
        time.sleep(0.001)
    assert [writer.returncode for writer in writers] == [0, 0]
    assert reads > 10
    bundles, groups = stored()
    names = {root.name for root in roots}
    assert (set(bundles), set(groups["g"])) == (names, names)
    assert [path.name for path in home_file().parent.iterdir()] == ["registry.json"]


def test_a_writer_waits_for_another(run_cli, tmp_path):
    write(home_file())
    descriptor = os.open(home_file().parent, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    timer = threading.Timer(0.3, os.close, [descriptor])
    timer.start()
    assert run_cli("registry", "set", tmp_path)[0] == 0
    timer.join()


def test_a_writer_gives_up_after_a_while(run_cli, tmp_path, monkeypatch):
    write(home_file())
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.1)
    descriptor = os.open(home_file().parent, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert "try again" in refused(run_cli, "registry", "set", tmp_path)
        assert listed(run_cli)["count"] == 0  # readers do not wait
    finally:
        os.close(descriptor)


def test_two_inits_make_one_registry(tmp_path):
    runs = [subprocess.Popen([sys.executable, "-m", "okf_catalog", "registry", "init"], cwd=tmp_path, env=_found(),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]  # fmt: skip
    for run in runs:
        run.communicate()
    assert sorted(run.returncode for run in runs) == [0, 2]


def _found() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "OKF_NO_DISCOVERY"}


def test_a_removed_working_directory_is_no_crash(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {sys.executable} -m okf_catalog registry list"
    done = subprocess.run(["sh", "-c", script], env=_found(), capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_malformed_is_a_registry_error():
    assert issubclass(MalformedError, RegistryError)
    assert process("registry", "list").returncode == 0
