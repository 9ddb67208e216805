"""`loose`: the concepts that nothing is linked with."""

from __future__ import annotations

import json

import pytest


def page(text="", **keys):
    return "---\ntype: T\n" + "".join(f"{key}: {value}\n" for key, value in keys.items()) + f"---\n{text}\n"


@pytest.fixture
def root(bundle):
    return bundle({
        "a.md": page("[b](sub/b.md)"), "sub/b.md": page(),
        "self.md": page("[me](self.md)", title="Selfish"),
        "sub/alone.md": page("[out](https://e.org) [index](/index.md) [gone](gone.md) [up](../../up.md)"),
        "based.md": page(sources="[{resource: ground.md}]"), "ground.md": page(),
        "old.md": page(superseded_by="new.md"), "new.md": page(),
        "UPPER.MD": page(), "sub/ü.md": page(title='"a\\tb"'),
        "index.md": "[alone](sub/alone.md)", "broken.md": "[a](self.md)",
    })  # fmt: skip


def test_json(root, run_cli):
    status, out, err = run_cli("loose", root, "--json")
    assert (status, err) == (0, f"note: 1 unusable file(s) are no concepts (okf-catalog validate {root} says why)\n")
    assert json.loads(out) == {"bundle": str(root), "count": 4, "loose": [
        {"id": "UPPER", "title": "UPPER", "dir": "."}, {"id": "self", "title": "Selfish", "dir": "."},
        {"id": "sub/alone", "title": "alone", "dir": "sub"}, {"id": "sub/ü", "title": "a\tb", "dir": "sub"},
    ]}  # fmt: skip


def test_for_people(root, run_cli):
    _, out, _ = run_cli("loose", root)
    assert out == (
        f"Loose files — {root} (4)\n\n  (root)\n    UPPER.MD  UPPER\n    self.md   Selfish\n"
        "\n  sub/\n    alone.md  alone\n    ü.md      a b\n"
    )


def test_none_and_other_formats(root, bundle, run_cli):
    _, out, _ = run_cli("loose", root, "--format", "csv")
    assert out.splitlines()[:2] == ["id,title,dir", "UPPER,UPPER,."]
    linked = bundle({"a.md": page("[b](b.md)"), "b.md": page()}, "linked")
    assert run_cli("loose", linked)[1] == f"Loose files — {linked} (0)\n  ✓ none — every concept links or is linked\n"
    assert json.loads(run_cli("loose", bundle({}, "empty"), "--json")[1])["loose"] == []
