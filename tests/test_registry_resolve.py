"""References: what `@slug`, `@`, `@group` and `@all` come to, for one bundle and for many."""

from __future__ import annotations

import subprocess
import sys

import pytest

from okf_catalog import registry
from okf_catalog.registry import resolve_many, resolve_one
from tests.test_registry import entry, home_file, made, write


@pytest.fixture
def world(tmp_path):
    """Bundles a, b, c and gone (no such directory); groups pair (a, gone), nest (pair, c), lost (gone), x ↔ y."""
    for name in "abc":
        made(tmp_path / name)
    write(
        home_file(), [entry(tmp_path / name) for name in ("gone", "a", "b", "c")],
        {"pair": ["a", "gone"], "nest": ["pair", "c", "a", "ghost"], "lost": ["gone"], "x": ["y"], "y": ["x", "a"]},
    )  # fmt: skip
    return tmp_path


def slugs(*references: str) -> list[str]:
    return [ref.slug for ref in resolve_many(references).refs]


def test_one_bundle(world):
    ref = resolve_one("@a")
    assert (ref.slug, ref.path, ref.title) == ("a", str(world / "a"), f"{world.name}/a")
    assert resolve_one("@ A!").slug == "a"
    assert resolve_one("@").slug == "a"


def test_only_an_at_sign_means_the_registry():
    assert registry.is_ref("@a")
    assert registry.is_ref("@")
    assert not registry.is_ref("./@a")
    assert not registry.is_ref("a@b")


@pytest.mark.parametrize("ref", ["@ghost", "@***", "@ghost/x"])
def test_unknown_names_say_which_file_was_read(world, ref):
    for resolve in (resolve_one, lambda ref: resolve_many([ref])):
        with pytest.raises(registry.UnknownRefError) as caught:
            resolve(ref)
        assert ref in str(caught.value)
        assert str(home_file()) in str(caught.value)
        assert "registry list" in str(caught.value)


def test_a_placeholder_is_never_found_by_a_name_of_nothing(tmp_path):
    write(home_file(), [entry(tmp_path, "bundle")])
    with pytest.raises(registry.UnknownRefError):
        resolve_one("@***")


@pytest.mark.parametrize("ref", ["@", "@a"])
def test_an_empty_registry_says_how_to_begin(ref):
    with pytest.raises(registry.UnknownRefError, match="registry set DIR"):
        resolve_one(ref)


def test_a_bundle_asked_for_by_name_is_there_or_it_is_an_error(world):
    for resolve in (resolve_one, lambda ref: resolve_many([ref])):
        with pytest.raises(registry.RegistryError) as caught:
            resolve("@GONE")
        message = str(caught.value)
        assert all(part in message for part in ("@GONE", str(world / "gone"), "registry del gone"))


def test_one_bundle_is_not_a_group(world):
    with pytest.raises(registry.RegistryError, match="@pair is a group of 2 members"):
        resolve_one("@Pair")
    with pytest.raises(registry.RegistryError, match="@lost is a group of 1 member,"):
        resolve_one("@lost")


@pytest.mark.parametrize("ref", ["@all", "@ALL", "@ All"])
def test_one_bundle_is_not_all_and_the_registry_is_not_read(ref):
    home_file().parent.mkdir()
    home_file().write_text("{ nope")
    with pytest.raises(registry.RegistryError, match="@all names every registered bundle"):
        resolve_one(ref)


def test_many(world):
    assert slugs("@c", "@a", "@c") == ["c", "a"]
    assert slugs("@", "@b") == ["a", "b"]
    assert slugs("@ALL") == ["a", "b", "c"]
    assert slugs("@nest") == ["a", "c"]
    assert slugs("@b", "@nest", "@all") == ["b", "a", "c"]


def test_a_directory_counts_once_however_it_is_spelled(world):
    (world / "way").symlink_to(world / "a")
    write(home_file(), [entry(world / "way"), entry(world / "a"), entry(world / "b")])
    assert slugs("@all") == ["way", "b"]


def test_a_set_leaves_out_what_is_gone_and_says_so_once(world):
    assert resolve_many(["@pair", "@all"]).notes == [f"left out gone: cannot read {world / 'gone'}"]
    with pytest.raises(registry.RegistryError, match="@lost leads to no bundle"):
        resolve_many(["@lost"])


def test_nothing_is_left_of_all(world):
    for name in "abc":
        (world / name).rmdir()
    with pytest.raises(registry.RegistryError, match="every registered bundle is gone"):
        resolve_many(["@all"])
    home_file().unlink()
    with pytest.raises(registry.RegistryError, match="registry set DIR"):
        resolve_many(["@all"])


def test_cycles_are_spelled_out(world):
    with pytest.raises(registry.GroupCycleError, match="group cycle: @y → @x → @y"):
        resolve_many(["@y"])


def test_deep_and_wide_groups_take_no_time(tmp_path):
    groups = {f"g{level}": [f"g{level + 1}", f"h{level + 1}"] for level in range(60)}
    groups |= {f"h{level}": [f"g{level + 1}", f"h{level + 1}"] for level in range(60)}
    write(home_file(), [entry(made(tmp_path / "a"))], groups | {"g60": ["a"], "h60": ["a"]})
    assert slugs("@g0") == ["a"]


def test_the_registry_is_found_from_a_given_directory(world, monkeypatch):
    monkeypatch.delenv("OKF_NO_DISCOVERY")
    write(world / "b" / ".okf.json", [{"slug": "here", "path": "sub"}])
    made(world / "b" / "sub" / "deeper")
    assert resolve_one("@here", cwd=str(world / "b" / "sub" / "deeper")).path == str(world / "b" / "sub")
    assert resolve_one("@a", cwd=str(world / "c")).slug == "a"


def test_a_malformed_file_is_an_error_of_its_own():
    home_file().parent.mkdir()
    home_file().write_text("{ nope")
    with pytest.raises(registry.MalformedError, match="malformed registry"):
        resolve_many(["@a"])


def test_it_is_cheap_to_load():
    code = "import sys, okf_catalog.registry; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"typer", "sqlite3", "yaml", "tempfile", "dataclasses", "okf_catalog.catalog"} & set(loaded)
