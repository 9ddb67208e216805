"""What is written goes into a pipe or is refused there; a device, a pipe or a link never makes way for a file."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import threading

import pytest

from tests.test_sync import note, sync


@pytest.fixture
def synced(bundle, run_cli):
    root = bundle({"a.md": note("Alpha", "text")})
    sync(run_cli, root)
    return root


@pytest.fixture
def pipe(tmp_path):
    """A named pipe, and what was written into it until its first writer closed it."""
    place = tmp_path / "pipe"
    os.mkfifo(place)
    read = []

    def reader():
        with open(place, "rb") as stream:
            read.append(stream.read())

    thread = threading.Thread(target=reader, daemon=True)
    thread.start()

    def content():
        assert stat.S_ISFIFO(os.lstat(place).st_mode)
        thread.join(20)
        return read[0].decode()

    return place, content


def test_report_goes_into_a_pipe(synced, run_cli, pipe):
    place, content = pipe
    status, _, err = run_cli("sync", synced, "--report", place)
    assert (status, err) == (0, "")
    assert json.loads(content())["status"] == 0


@pytest.mark.parametrize("verb", ["export", "render"])
def test_output_goes_into_a_pipe(synced, run_cli, pipe, verb):
    place, content = pipe
    arguments = {"export": ("export", synced, "--format", "csv"), "render": ("render", synced)}[verb]
    assert run_cli(*arguments, "-o", place)[0] == 0
    assert "Alpha" in content()


@pytest.mark.parametrize("kind", ["pipe", "link to a pipe", "dangling link into a missing directory"])
def test_snapshot_refuses_what_is_no_file(synced, run_cli, tmp_path, kind):
    target = tmp_path / "target"
    if kind == "pipe":
        os.mkfifo(target)
    elif kind == "link to a pipe":
        os.mkfifo(tmp_path / "pipe")
        target.symlink_to(tmp_path / "pipe")
    else:
        target.symlink_to(tmp_path / "gone" / "file")
    before = os.lstat(target)
    status, out, err = run_cli("snapshot", target, "--force")
    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert str(target) in err
    assert os.lstat(target) == before


@pytest.mark.parametrize("verb", ["snapshot", "report", "export"])
def test_link_to_a_file_stays_a_link(synced, run_cli, tmp_path, verb):
    (tmp_path / "real").write_text("old")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    arguments = {
        "snapshot": ("snapshot", link, "--force"),
        "report": ("sync", synced, "--report", link),
        "export": ("export", synced, "--format", "csv", "-o", link),
    }[verb]
    assert run_cli(*arguments)[0] == 0
    assert link.is_symlink()
    assert (tmp_path / "real").stat().st_size > 50


@pytest.mark.parametrize("kind", ["pipe", "directory"])
@pytest.mark.parametrize("verb", ["sync", "doctor", "compact", "forget"])
def test_catalog_that_is_no_file(bundle, run_cli, tmp_path, kind, verb):
    root = bundle({"a.md": note()})
    place = tmp_path / "folder" / "place"
    place.parent.mkdir()
    os.mkfifo(place) if kind == "pipe" else place.mkdir()
    before = os.lstat(place)
    arguments = {"sync": [root], "doctor": ["--repair"], "compact": [], "forget": ["x"]}[verb]
    status, out, err = run_cli(verb, *arguments, "--db", place)
    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert "not a file" in err
    assert os.lstat(place) == before
    assert os.listdir(place.parent) == ["place"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
@pytest.mark.parametrize("verb", ["snapshot", "report"])
def test_device_stays_a_device(synced, run_cli, tmp_path, verb):
    null = tmp_path / "null"
    if subprocess.run(["mknod", null, "c", "1", "3"], check=False, capture_output=True).returncode:
        pytest.skip("this container makes no devices")
    status, _, err = run_cli("snapshot", null, "-f") if verb == "snapshot" else run_cli("sync", synced, "--report", null)
    assert (status, err.count("\n")) == ((2, 1) if verb == "snapshot" else (0, 0)), err
    assert stat.S_ISCHR(os.lstat(null).st_mode)
