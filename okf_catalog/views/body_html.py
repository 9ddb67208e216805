"""The body of a concept as HTML that is safe to show, whoever wrote it (OKF §6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.anchors.index import slugify
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.footnote.index import render_footnote_close, render_footnote_open

_SAFE_SCHEMES = ("http://", "https://", "mailto:")
LINK = "okf_link"
"""Key of the environment under which the renderer finds the function that places links."""

_NOTES = "okf_notes"
"""The same for what is told in footnotes, by their labels."""

Link = Callable[[str], "str | None"]
"""From a target as written to the address of the page that shows it; None for places that are not shown."""


def is_safe_address(target: str) -> bool:
    """True for addresses that a page may link to: http, https, mailto."""
    return target.strip().lower().startswith(_SAFE_SCHEMES)


def to_html(body: str, link: Link, notes: Mapping[str, str] | None = None) -> str:
    """Render a body. Raw HTML is shown as text, images as links, targets with other schemes not at all.

    `notes` says what the source is that a footnote label names (OKF §13.1): text, shown in the
    footnote. Such a label needs no definition in the body.
    """
    notes = notes or {}
    # What the plugin notes down for each definition that it meets.
    known = {"refs": {f":{label}": -1 for label in notes}}
    return str(_parser().render(body, {LINK: link, _NOTES: notes, "footnotes": known}))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "typographer": False}).enable(["table", "strikethrough"])
    parser.use(footnote_plugin)
    parser.core.ruler.push("okf_headings", _name_headings)
    # Every target is judged by `_open`; the parser's own list would print the markdown of refused ones.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    for name, rule in (("link_open", _open), ("link_close", _close), ("image", _image), ("footnote_open", _open_note), ("footnote_close", _close_note)):
        parser.add_render_rule(name, rule)
    return parser


def _name_headings(state: StateCore) -> None:
    """Give headings the ids that links to them use: `#a-title`, `#a-title-1` for the second of that name.

    Not the plugin for it: its time grows with the square of the headings of one name, and bodies are hostile.
    """
    taken: dict[str, int] = {}
    for token, content in zip(state.tokens, state.tokens[1:], strict=False):
        if token.type == "heading_open":
            parts = (child.content for child in content.children or [] if child.type in ("text", "code_inline"))
            name = slug = slugify("".join(parts))
            while name in taken:
                name = f"{slug}-{taken[slug]}"
                taken[slug] += 1
            taken[name] = 1
            token.attrSet("id", name)


def _open(self: RendererHTML, tokens: Sequence[Token], number: int, options: Any, env: dict[str, Any]) -> str:
    token = tokens[number]
    target = str(token.attrs.get("href", ""))
    address = _address(target, env)
    open_links = env.setdefault("okf_open", [])
    if address is None:
        open_links.append("span")
        return '<span class="okf-dead" title="this link leads to nothing that can be shown">'
    open_links.append("a")
    token.attrs = {"href": address}
    if is_safe_address(target):
        token.attrs["rel"] = "noopener noreferrer nofollow"
    return self.renderToken(tokens, number, options, env)


def _close(_self: RendererHTML, _tokens: Sequence[Token], _number: int, _options: Any, env: dict[str, Any]) -> str:
    return f"</{env['okf_open'].pop()}>"


def _open_note(self: RendererHTML, tokens: Sequence[Token], number: int, options: Any, env: dict[str, Any]) -> str:
    env["okf_note"] = tokens[number].meta.get("label")
    return str(render_footnote_open(self, tokens, number, options, env))


def _close_note(self: RendererHTML, tokens: Sequence[Token], number: int, options: Any, env: dict[str, Any]) -> str:
    text = env[_NOTES].get(env["okf_note"])
    told = f'<p class="okf-source">{escapeHtml(text)}</p>' if text else ""
    return told + str(render_footnote_close(self, tokens, number, options, env))


def _image(self: RendererHTML, tokens: Sequence[Token], number: int, options: Any, env: dict[str, Any]) -> str:
    """Nothing is fetched from elsewhere for a reader who only opened a page: the picture is a link."""
    token = tokens[number]
    target = str(token.attrs.get("src", ""))
    text = escapeHtml(self.renderInlineAsText(token.children or [], options, env) or target)
    address = _address(target, env)
    if address is None or env.get("okf_open"):
        return f"[{text}]"
    return f'<a href="{escapeHtml(address)}" rel="noopener noreferrer nofollow">[{text}]</a>'


def _address(target: str, env: dict[str, Any]) -> str | None:
    if target.startswith("#"):
        return target
    if is_safe_address(target):
        return target
    link: Link = env[LINK]
    return link(target)
