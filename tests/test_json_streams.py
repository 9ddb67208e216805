"""Long answers in JSON are written piece by piece, and are the document that one piece would be."""

from __future__ import annotations

import json

import pytest

from okf_catalog.cli import output
from tests.test_sync import note, sync

TEXT = "a ], a }, \"quoted\", C:\\n, é, 木,\n\n    indented\u2028end"


@pytest.mark.parametrize("pretty", [False, True], ids=["compact", "pretty"])
@pytest.mark.parametrize("size", [0, 1, 2, 5, 100, 101])
@pytest.mark.parametrize("item", [TEXT, [], [[1], []], {}, {"a": {"b": [TEXT]}}, None], ids=repr)
def test_pieces_make_the_document(capsys, item, size, pretty):
    head = {"bundle": TEXT, "none": None, "inner": {"list": [1, [], {}], "empty": []}}
    output.stream_json({**head, "items": iter([item] * size), "more": (item for _ in range(size)), "end": [1]}, pretty=pretty)
    streamed = capsys.readouterr().out
    output.dump_json({**head, "items": [item] * size, "more": [item] * size, "end": [1]}, pretty=pretty)
    assert streamed == capsys.readouterr().out


@pytest.mark.parametrize("verb", ["find", "files", "catalog", "index", "review", "sources", "dirs", "graph", "search", "changes", "tags"])
def test_verbs_in_one_piece_or_in_many(bundle, run_cli, monkeypatch, verb):
    root = bundle({f"d{n % 3}/n{n}.md": note(f"N {n}", f"text\n\n[next](n{(n + 3) % 12}.md)\n") for n in range(12)})
    sync(run_cli, root)
    more = {"search": ["text"], "changes": ["--since", "2020-01-01"], "review": ["--as-of", "2030-01-01"]}.get(verb, [])
    arguments = [verb, root, *more]
    whole = run_cli(*arguments, "--json")
    assert whole[0] == 0
    document = json.loads(whole[1])
    monkeypatch.setattr(output, "_ITEMS", 2)
    assert run_cli(*arguments, "--json") == whole
    status, out, _ = run_cli(*arguments, "--pretty")
    assert (status, json.loads(out)) == (0, document)
    assert out == json.dumps(document, indent=2, ensure_ascii=False) + "\n"
