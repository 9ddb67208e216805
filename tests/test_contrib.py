"""The files in contrib/ are run, not only read: each command line of theirs, in a home of its own."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest
import yaml

from okf_catalog import __version__
from tests.conftest import EXAMPLE, ROOT, process

CONTRIB = ROOT / "contrib"
UNITS = sorted((CONTRIB / "systemd").iterdir())
DOCKERFILE = (CONTRIB / "docker" / "Dockerfile").read_text()


@pytest.fixture
def place(tmp_path):
    """A directory with the example as a git-like checkout and `okf-catalog` on the PATH."""
    bin_directory = tmp_path / "home" / ".local" / "bin"
    bin_directory.mkdir(parents=True)
    (bin_directory / "okf-catalog").write_text(f"#!/bin/sh\nexec {sys.executable} -m okf_catalog \"$@\"\n")
    os.chmod(bin_directory / "okf-catalog", 0o755)
    shutil.copytree(EXAMPLE, tmp_path / "knowledge", ignore=shutil.ignore_patterns("pager.md"))
    return tmp_path


def run(command, place, **more):
    environment = {**os.environ, "HOME": str(place / "home"), "PATH": f"{place}/home/.local/bin:/usr/bin:/bin", **more}
    return subprocess.run(command, shell=isinstance(command, str), cwd=place, env=environment, capture_output=True, text=True, timeout=60, check=False)


def unit(path):
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters="=", comment_prefixes="#")
    parser.optionxform = str
    parser.read(path)
    return parser


def commands(path):
    """The ExecStart lines of a unit, with its specifiers left in."""
    return re.findall(r"^ExecStart=(.*)$", path.read_text(), re.MULTILINE)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_accepts_the_units():
    done = subprocess.run(["systemd-analyze", "verify", *map(str, UNITS)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_understands_the_calendar():
    for path in UNITS:
        if path.suffix == ".timer":
            text = unit(path)["Timer"]["OnCalendar"]
            assert subprocess.run(["systemd-analyze", "calendar", text], capture_output=True, check=False).returncode == 0


def test_every_timer_has_its_service():
    for path in UNITS:
        if path.suffix == ".timer":
            assert path.with_suffix(".service") in UNITS


@pytest.mark.parametrize("path", [path for path in UNITS if path.suffix == ".service"], ids=lambda path: path.stem)
def test_commands_of_the_units_run(path, place):
    assert process("sync", place / "knowledge").returncode == 0
    assert commands(path)
    for line in commands(path):
        words = shlex.split(line.replace("%t", str(place)))
        assert words[:2] == ["/usr/bin/env", "okf-catalog"]
        if "--watch" in words:
            environment = {**os.environ, "PATH": f"{place}/home/.local/bin:/usr/bin:/bin"}
            child = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert "watching 1 bundle" in child.stderr.readline()
            child.send_signal(signal.SIGTERM)
            child.communicate(timeout=20)
            assert child.returncode == 0
        else:
            done = run(words, place)
            assert done.returncode == 0, done.stderr
    if "--report" in commands(path)[0]:
        assert json.loads((place / "okf-catalog-sync.json").read_text())["status"] == 0


def cron_lines():
    text = (CONTRIB / "cron" / "okf-catalog.cron").read_text()
    return [line for line in text.splitlines() if line and not line.startswith("#") and not re.match(r"[A-Z]+=", line)]


@pytest.mark.parametrize("line", cron_lines(), ids=lambda line: line.split(";")[1].split()[0])
def test_cron_lines_are_silent_while_all_is_well(line, place):
    fields = line.split(None, 5)
    assert all(re.fullmatch(r"[\d*/,-]+", field) for field in fields[:5])
    command = fields[5]
    assert "%" not in command  # cron takes it for a line break
    assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0
    assert process("sync", place / "knowledge").returncode == 0
    done = run(["/bin/sh", "-c", command], place)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_cron_tells_of_what_is_wrong(place):
    sync_line, doctor_line = (line.split(None, 5)[5] for line in cron_lines())
    assert process("sync", place / "knowledge").returncode == 0
    done = run(["python3", "-c", "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('delete from bodies'); c.commit()",
                str(place / "catalog.db")], place)  # fmt: skip
    assert done.returncode == 0
    done = run(["/bin/sh", "-c", doctor_line], place)
    assert done.returncode == 1
    assert "concepts without their text" in done.stdout
    shutil.rmtree(place / "knowledge")
    done = run(["/bin/sh", "-c", sync_line.replace("--fresh-after 10m", "--fresh-after 0s")], place)
    assert (done.returncode, done.stdout) == (2, "")
    assert "does not exist" in done.stderr


def workflow():
    return yaml.safe_load((CONTRIB / "github" / "okf-catalog.yml").read_text())


@pytest.mark.skipif(not shutil.which("actionlint"), reason="no actionlint here")
def test_actionlint_accepts_the_workflow():
    done = subprocess.run(["actionlint", str(CONTRIB / "github" / "okf-catalog.yml")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_steps_of_the_workflow_run(place):
    job = workflow()["jobs"]["catalog"]
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert steps[0] == "python -m pip install okf-catalog"
    environment = {"OKF_CATALOG_DB": str(place / ".okf-catalog" / "catalog.db"), "BUNDLE": workflow()["env"]["BUNDLE"]}
    codes = []
    for step in steps[1:]:
        assert subprocess.run(["bash", "-n", "-c", step], check=False).returncode == 0
        codes.append(run(["bash", "-eo", "pipefail", "-c", step], place, **environment).returncode)
    assert codes == [0, 1, 0]  # the example is not conformant on purpose
    for name in ("catalog.db", "sync.json"):
        assert name in job["steps"][-1]["with"]["path"]
        assert (place / name).exists()
    # The next run checks the repository out anew: other stamps and inodes, the same content.
    before = time.time() - 100_000
    shutil.move(place / "knowledge", place / "old")
    shutil.copytree(place / "old", place / "knowledge")
    for path in (place / "knowledge").rglob("*.md"):
        os.utime(path, (before, before))
    assert run(["bash", "-c", steps[1]], place, **environment).returncode == 0
    (report,) = json.loads((place / "sync.json").read_text())["syncs"]
    assert report["bundle"] == "knowledge"
    assert report["sync_id"] is None


def test_actions_are_of_a_named_version():
    for step in workflow()["jobs"]["catalog"]["steps"]:
        assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "a/b@v1"))


def instruction(name):
    return json.loads(re.search(rf"^{name}.*?(\[.*\])$", DOCKERFILE, re.MULTILINE)[1])


@pytest.mark.skipif(not shutil.which("hadolint"), reason="no hadolint here")
def test_hadolint_accepts_the_dockerfile():
    done = subprocess.run(["hadolint", str(CONTRIB / "docker" / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_image_installs_this_version():
    assert f"ARG OKF_CATALOG_VERSION={__version__}\n" in DOCKERFILE


def test_commands_of_the_image_run(place):
    command = [*instruction("ENTRYPOINT"), *instruction("CMD")]
    assert command == ["okf-catalog", "sync", "/bundle", "--watch"]
    command[2] = str(place / "knowledge")
    environment = {**os.environ, "PATH": f"{place}/home/.local/bin:/usr/bin:/bin", "PYTHONUNBUFFERED": "1"}
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in child.stdout:
        if line.startswith("knowledge: + "):
            break
    health = run(instruction("HEALTHCHECK"), place)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=20)
    assert child.returncode == 0
    assert json.loads(health.stdout)["count"] == 1
