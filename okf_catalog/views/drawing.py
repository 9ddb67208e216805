"""The graph in the languages of other tools: Graphviz, GraphML, Mermaid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Row = dict[str, Any]
FORMATS = ("dot", "graphml", "mermaid")
LAYOUTS = ("cose", "concentric", "breadthfirst", "circle", "grid")
"""How a page can lay a graph out."""
# XML 1.0 has no way to write these, not even escaped.
_NO_XML = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�")
_NO_MERMAID = str.maketrans({'"': "#quot;", "#": "#35;", "\n": " ", "<": "#lt;", ">": "#gt;", "`": "#96;", "\\": "#92;"})


def draw(form: str, nodes: Iterable[Row], edges: Iterable[Row]) -> Iterator[str]:
    """The lines of a graph in one of `FORMATS`; `nodes` have `id, title, type`, `edges` `source, target`."""
    return {"dot": dot, "graphml": graphml, "mermaid": mermaid}[form](nodes, edges)


def dot(nodes: Iterable[Row], edges: Iterable[Row]) -> Iterator[str]:
    """A Graphviz digraph."""
    yield "digraph okf {"
    yield "  node [shape=box];"
    for node in nodes:
        yield f"  {_dot(node['id'])} [label={_dot(node['title'])}, class={_dot(node['type'])}];"
    for edge in edges:
        yield f"  {_dot(edge['source'])} -> {_dot(edge['target'])};"
    yield "}"


def _dot(text: str) -> str:
    # Graphviz reads `\n`, `\l`, `\N` … in labels; a doubled backslash is one.
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ").replace("\0", "\ufffd") + '"'


def graphml(nodes: Iterable[Row], edges: Iterable[Row]) -> Iterator[str]:
    """A GraphML document, as yEd, Gephi and networkx read it."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for name in ("title", "type"):
        yield f'  <key id="{name}" for="node" attr.name="{name}" attr.type="string"/>'
    yield '  <graph id="okf" edgedefault="directed">'
    for node in nodes:
        data = "".join(f'<data key="{name}">{escape(node[name].translate(_NO_XML))}</data>' for name in ("title", "type"))
        yield f"    <node id={_xml(node['id'])}>{data}</node>"
    for edge in edges:
        yield f"    <edge source={_xml(edge['source'])} target={_xml(edge['target'])}/>"
    yield "  </graph>"
    yield "</graphml>"


def _xml(text: str) -> str:
    return quoteattr(text.translate(_NO_XML))


def mermaid(nodes: Iterable[Row], edges: Iterable[Row]) -> Iterator[str]:
    """A Mermaid flow chart. Its ids are numbers: it allows few characters in them."""
    numbers: dict[str, int] = {}
    yield "flowchart LR"
    for node in nodes:
        number = numbers.setdefault(node["id"], len(numbers) + 1)
        yield f'  n{number}["{node["title"].translate(_NO_MERMAID)}"]'
    for edge in edges:
        yield f"  n{numbers[edge['source']]} --> n{numbers[edge['target']]}"
