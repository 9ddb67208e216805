"""Each kind of damage that took another tool down: one file suffers, the run goes on."""

import os

import pytest

from tests.test_sync import note, sync

GOOD = note("Good")


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("undefined alias", "---\ntype: N\nx: *nothing\n---\n", "invalid_yaml"),
        ("ruby tag", "---\ntype: N\nx: !ruby/object:Gem {}\n---\n", "invalid_yaml"),
        ("python tag", "---\ntype: N\nx: !!python/object/apply:os.getcwd []\n---\n", "invalid_yaml"),
        ("set tag", "---\ntype: N\nx: !!set {a, b}\n---\n", "invalid_yaml"),
        ("at sign", "---\ntype: N\nx: @y\n---\n", "invalid_yaml"),
        ("jinja", "---\ntype: N\nx: {{ y }}\n---\n", "invalid_yaml"),
        ("colon", "---\ntype: N\ntitle: a: b\n---\n", "invalid_yaml"),
        ("two documents", "---\ntype: N\n--- more\nx: 1\n---\n", "invalid_yaml"),
        ("deep", "---\ntype: N\nx: " + "[" * 5000 + "]" * 5000 + "\n---\n", "yaml_limits"),
        ("latin", b"---\ntype: N\ntitle: caf\xe9\n---\n", "not_utf8"),
        ("utf-16", "---\ntype: N\n---\n".encode("utf-16"), "not_utf8"),
        ("no fence", "# Title\n\n---\ntype: Trap\n---\n", "no_frontmatter"),
        ("empty", "", "no_frontmatter"),
        ("unclosed", "---\ntype: N\n\nhidden text\n", "unclosed_frontmatter"),
        ("list", "---\n- a\n---\n", "not_a_mapping"),
        ("text", "---\njust words\n---\n", "not_a_mapping"),
        ("huge frontmatter", "---\ntype: N\nx: " + "y" * 1_100_000 + "\n---\n", "too_large"),
        ("huge file", b"---\ntype: N\n---\n" + b"z" * (16 * 1024 * 1024), "too_large"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_unusable_file_is_a_row_with_a_way_out(bundle, run_cli, catalog, name, content, code):
    root = bundle({"bad.md": content, "good.md": GOOD})
    report = sync(run_cli, root)
    assert [failure["code"] for failure in report["failed"]] == [code]
    assert catalog("select path from concepts") == ["good.md"]
    assert catalog("select path, code, length(message) > 10, length(advice) > 10 from parse_errors") == [
        ("bad.md", code, 1, 1)
    ]
    assert sync(run_cli, root)["sync_id"] is None


@pytest.mark.parametrize(
    "content",
    [
        "---\ntype: N\nx: &a [1]\ny: *a\n---\n",
        "---\ntype: N\nx: :symbol\n---\n",
        "---\ntype: N\nx: !note y\n---\n",
        "---\ntype: N\nx: .nan\ntags: [.inf]\n---\n",
        "---\ntype: N\nd: 2026-02-30\nstale_after: 2026-02-30\n---\n",
        "---\ntype: N\n1: a\ntrue: b\n~: c\n2026-01-01: d\n---\n",
        "---\ntype: N\nx: " + "9" * 5000 + "\n---\n",
        "---\r\ntype: N\r\n---\r\n\r\nWindows\r\n",
        "\ufeff---\ntype: N\n---\n",
        "---\ntype: N\n---\nnul \0 in the text\n",
        "---\n---\n",
        "---\ntype: N\ntags: " + str([f"t{number}" for number in range(5000)]) + "\n---\n",
        "---\ntype: N\n---\n" + "[" * 20000,
        "---\ntype: N\n---\n[a](~nobody/b.md) [b](//host/c.md) [c](%ff.md) [d](%00.md) [e](../../../etc/passwd.md)\n",
        "---\ntype: N\n---\n" + "q" * 200_000 + "\n",
    ],
    ids=["alias", "symbol", "local tag", "nan", "no such day", "odd keys", "long integer", "crlf", "bom", "nul",
         "empty mapping", "many tags", "brackets", "odd links", "one long word"],
)  # fmt: skip
def test_odd_but_usable_file_is_a_concept(bundle, run_cli, catalog, content):
    root = bundle({"odd.md": content, "good.md": GOOD})
    report = sync(run_cli, root)
    assert report["failed"] == []
    assert catalog("select path from concepts order by path") == ["good.md", "odd.md"]
    assert catalog("select count(*) from concepts where not json_valid(frontmatter) or not json_valid(tags)") == [0]
    assert sync(run_cli, root)["sync_id"] is None
    assert sync(run_cli, root, "--full")["sync_id"] is None


def test_alias_bomb_is_refused_at_once(bundle, run_cli, catalog):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    root = bundle({"bomb.md": "---\ntype: N\n" + "\n".join(lines) + "\n---\n", "good.md": GOOD})
    assert sync(run_cli, root)["failed"][0]["code"] == "yaml_limits"


def test_text_bomb_of_aliases_is_refused(bundle, run_cli):
    text = "---\ntype: N\na: &a " + "x" * 50_000 + "\nb: [" + ", ".join(["*a"] * 1000) + "]\n---\n"
    assert sync(run_cli, bundle({"bomb.md": text}))["failed"][0]["code"] == "yaml_limits"


def test_index_and_log_that_are_not_utf8(bundle, run_cli, catalog):
    root = bundle({"index.md": b"# caf\xe9\n", "sub/log.md": b"## 2026-01-\xff\n", "a.md": GOOD})
    assert sync(run_cli, root)["concepts"] == 1
    assert catalog("select path, code from parse_errors order by path") == [
        ("index.md", "not_utf8"), ("sub/log.md", "not_utf8"),
    ]
    assert run_cli("validate", root)[0] == 1


def test_odd_names(bundle, run_cli, catalog):
    names = ["50% off?.md", 'what\'s "new".md', "emoji 🚀.md", "#hash & amp.md", "[draft] x.md", "-n.md", " lead.md",
             "back\\slash.md", "tab\there.md", "new\nline.md", "*.md", "{a,b}.md", "~user.md", "é.md", "e\u0301.md"]  # fmt: skip
    root = bundle({name: note(str(position)) for position, name in enumerate(names)}, name="br[ack]et*?{x}")
    assert sync(run_cli, root)["concepts"] == len(names)
    assert sorted(catalog("select path from concepts")) == sorted(names)
    status, out, _ = run_cli("find", root)
    assert status == 0
    assert out.count("\n") == len(names) + 4
    for name in names:
        status, out, err = run_cli("show", "--json", "--", name)
        assert status == 0, (name, err)


def test_name_that_is_not_utf8(bundle, run_cli, catalog):
    root = bundle({"ok.md": GOOD})
    with open(os.path.join(os.fsencode(root), b"caf\xe9.md"), "wb") as file:
        file.write(b"---\ntype: N\n---\nx\n")
    report = sync(run_cli, root)
    assert report["failed"][0]["path"] == "caf\\xe9.md"
    assert catalog("select path, code from parse_errors") == [("caf\\xe9.md", "file_name")]
    assert sync(run_cli, root)["sync_id"] is None
    os.rename(os.path.join(os.fsencode(root), b"caf\xe9.md"), root / "café.md")
    report = sync(run_cli, root)
    assert catalog("select path from concepts order by path") == ["café.md", "ok.md"]
    assert catalog("select count(*) from parse_errors") == [0]


def test_links_inside_outside_and_broken(bundle, run_cli, catalog, tmp_path):
    (tmp_path / "outside.md").write_text("---\ntype: N\n---\n\nSECRET\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_text("---\ntype: N\n---\n\nSECRET\n")
    root = bundle({"real.md": note("Real"), "sub/b.md": note("B"), ".git/g.md": note("G")})
    for name, target in {
        "alias.md": "real.md", "gone.md": "nowhere.md", "escape.md": "../outside.md", "absolute.md": "/etc/hostname",
        "loop.md": "loop.md", "dir.md": "sub", "git.md": ".git/g.md",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    (root / "linked").symlink_to("../outside")
    (root / "round").symlink_to(".")
    sync(run_cli, root)
    assert catalog("select path from concepts order by path") == ["alias.md", "real.md", "sub/b.md"]
    assert catalog("select path, code from parse_errors order by path") == [
        ("absolute.md", "link_outside"), ("escape.md", "link_outside"), ("git.md", "link_outside"),
        ("gone.md", "link_broken"), ("loop.md", "link_broken"),
    ]  # fmt: skip
    assert "SECRET" not in (tmp_path / "catalog.db").read_bytes().decode("latin-1")
    assert sync(run_cli, root)["sync_id"] is None
    (root / "real.md").write_text(note("Real", "new text"))
    assert [change["path"] for change in sync(run_cli, root)["changed"]] == ["alias.md", "real.md"]


def test_pipe_named_like_a_file_does_not_hang(bundle, run_cli, catalog):
    root = bundle({"a.md": GOOD})
    os.mkfifo(root / "pipe.md")
    sync(run_cli, root)
    assert catalog("select path, code from parse_errors") == [("pipe.md", "unreadable")]


def test_directory_named_like_a_file(bundle, run_cli, catalog):
    root = bundle({"sales.md": GOOD, "sales/orders.md": GOOD, "notes.md/inner.md": GOOD})
    sync(run_cli, root)
    assert catalog("select concept_id from concepts order by path") == ["notes.md/inner", "sales", "sales/orders"]


def test_file_that_vanishes_between_walk_and_read(bundle, run_cli, catalog, monkeypatch):
    root = bundle({"a.md": note("A"), "b.md": note("B")})
    sync(run_cli, root)
    bundle({"a.md": note("A2"), "b.md": note("B2"), "c.md": note("C")})
    from okf_catalog.catalog import ingest

    class Vanishing(ingest._Ingest):
        def run(self, *arguments):
            (root / "b.md").unlink()
            (root / "c.md").unlink()
            return super().run(*arguments)

    monkeypatch.setattr(ingest, "_Ingest", Vanishing)
    sync(run_cli, root)
    assert catalog("select path, title from concepts") == [("a.md", "A2")]
    monkeypatch.undo()
    assert catalog("select count(*) from parse_errors") == [0]
