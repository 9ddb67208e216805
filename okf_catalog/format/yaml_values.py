"""Frontmatter YAML to plain Python values, bounded in size, depth and expansion.

PyYAML's C parser composes the nodes; the constructor here is our own, because the
stock ones turn `no`, `007`, `1.10`, `12:30` and dates into something that the author
did not write, die on 2026-02-30 and take the last of two equal keys in silence.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import yaml
from yaml.composer import Composer
from yaml.nodes import ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

from okf_catalog.format.values import dumps, plain_value

MAX_DEPTH = 100
"""Levels of nesting; real frontmatter has three or four."""
# A document of n characters has at most n + 1 nodes and n characters of text unless
# aliases repeat some; these are the extra amounts that aliases may add.
ALIAS_NODES = 10_000
ALIAS_CHARACTERS = 1_000_000

_UNTAGGED, _QUOTED = "", "quoted"
_CORE = "tag:yaml.org,2002:"
_DROPPED_TAGS = frozenset(_CORE + name for name in ("binary", "timestamp", "seq", "map", "str"))
_TYPED_TAGS = frozenset(_CORE + name for name in ("int", "float", "bool", "null"))
_LOCAL_TAG = re.compile(r"![^/:!]*\Z")
_MERGE = "<<"
_MARK = "\ufeff"
_LINE_ENDS = "\0\r\n\x85\u2028\u2029"


class YamlProblem(NamedTuple):
    """A flaw that does not keep the document from being read. `line` counts from 0."""

    check: str
    message: str
    line: int


class YamlFailure(Exception):
    """The text is not usable. `line` and `column` count from 0, None where unknown."""

    def __init__(self, code: str, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.line, self.column = code, message, line, column


class Loaded(NamedTuple):
    """A document: its value, the line (from 0) of each top-level key, the problems."""

    value: Any
    key_lines: dict[str, int]
    problems: list[YamlProblem]


class _Resolve:
    """Instead of PyYAML's tag resolution: only whether a scalar counts as quoted matters."""

    def resolve(self, kind: type, _value: str | None, implicit: tuple[bool, bool] | bool | None) -> str:
        if kind is not yaml.ScalarNode:
            return _UNTAGGED
        return _UNTAGGED if isinstance(implicit, tuple) and implicit[0] else _QUOTED

    # The composer calls these for each node: a function in C that takes any arguments runs no Python code.
    descend_resolver = staticmethod(_UNTAGGED.format)
    ascend_resolver = staticmethod(_UNTAGGED.format)


class PurePythonComposer(_Resolve, Reader, Scanner, Parser, Composer):
    """The same meaning where PyYAML was built without libyaml, about ten times slower."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)

    # The Python scanner stops at some tabs, remarks and byte-order marks where libyaml goes on.

    def scan_to_next_token(self) -> None:
        """Skip blanks, remarks and line ends."""
        while True:
            if self.column == 0 and self.peek() == _MARK:
                self.column += self.index > 0  # as libyaml counts
                self.forward()
            while self.peek() == " " or (self.peek() == "\t" and (self.flow_level or not self.allow_simple_key)):
                self.forward()
            if self.peek() == "#":
                while self.peek() not in _LINE_ENDS:
                    self.forward()
            if not self.scan_line_break():  # type: ignore[no-untyped-call]
                return
            if not self.flow_level:
                self.allow_simple_key = True

    def scan_plain_spaces(self, indent: int, start_mark: Any) -> Any:
        """Take the blanks and line ends inside a plain scalar; None where the document ends."""
        blanks = ""
        while self.peek() in " \t":
            blanks += self.peek()
            self.forward()
        if self.peek() == "\0" or self.peek() not in _LINE_ENDS:
            return [blanks] if blanks else []
        first = self.scan_line_break()  # type: ignore[no-untyped-call]
        self.allow_simple_key = True
        breaks: list[str] = []
        while True:
            if self.column == 0 and self.prefix(3) in ("---", "...") and self.peek(3) in _LINE_ENDS + " \t":
                return None
            if self.peek() in " \t":
                if self.peek() == "\t" and self.column < indent:
                    raise ScannerError("while scanning a plain scalar", start_mark,
                                       "found a tab character that violates indentation", self.get_mark())
                self.forward()
            elif self.peek() != "\0" and self.peek() in _LINE_ENDS:
                breaks.append(self.scan_line_break())  # type: ignore[no-untyped-call]
            else:
                break
        return [first, *breaks] if first != "\n" else breaks or [" "]

    def scan_block_scalar_indicators(self, _start_mark: Any) -> tuple[bool | None, int | None]:
        """Read what follows `|` or `>`: how the text ends and how far it is indented."""
        chomping = increment = None
        for _ in range(2):
            character = self.peek()
            if character in "+-" and chomping is None:
                chomping = character == "+"
            elif character in "123456789" and increment is None:
                increment = int(character)
            else:
                break
            self.forward()
        return chomping, increment

    def scan_block_scalar_ignored_line(self, start_mark: Any) -> None:
        """Skip the rest of the line of `|` or `>`: blanks and a remark."""
        while self.peek() in " \t":
            self.forward()
        super().scan_block_scalar_ignored_line(start_mark)


FastComposer: Any
UntaggedComposer: Any
try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs do not know it

    class _CComposer(_Resolve, CParser):
        pass

    class _UntaggedComposer(CParser):
        """For text without `!`, where a scalar's style tells all that `_Resolve` would."""

        resolve = descend_resolver = ascend_resolver = staticmethod(_UNTAGGED.format)

    FastComposer, UntaggedComposer = _CComposer, _UntaggedComposer
except ImportError:  # PyYAML without libyaml
    FastComposer = UntaggedComposer = PurePythonComposer


def load(text: str) -> Loaded:
    """Read one YAML document.

    Mappings become dicts with text keys, sequences lists, plain nulls None, plain
    numbers and booleans `Plain`, every other scalar `str`. Raises `YamlFailure`.
    """
    return compose(text, FastComposer if "!" in text else UntaggedComposer)


def compose(text: str, composer: Any = FastComposer) -> Loaded:
    """Read one YAML document with PyYAML's parser."""
    try:
        parser = composer(text)
        try:
            node = parser.get_single_node()
        finally:
            if hasattr(parser, "dispose"):
                parser.dispose()
    except yaml.MarkedYAMLError as problem:
        raise _failure(problem) from None
    except yaml.reader.ReaderError as problem:
        character = _code_point(problem.character)
        # libyaml's own position counts bytes.
        before = text.partition(chr(character))[0]
        raise YamlFailure(
            "invalid_yaml",
            f"character U+{character:04X} is not allowed in YAML",
            before.count("\n"),
            len(before) - before.rfind("\n") - 1,
        ) from None
    except RecursionError:
        raise YamlFailure("yaml_limits", f"nested deeper than {MAX_DEPTH} levels") from None
    except (yaml.YAMLError, ValueError) as problem:
        raise YamlFailure("invalid_yaml", str(problem)) from None
    builder = _Builder(len(text))
    if node is None:
        return Loaded(None, {}, [])
    value = builder.build(node, 0)
    if composer is PurePythonComposer and "\\u" in text.lower():
        _refuse_surrogates(value)
    return Loaded(value, builder.key_lines, builder.problems)


def _refuse_surrogates(value: Any) -> None:
    r"""libyaml refuses `"\ud800"`, the Python scanner lets it pass; no UTF-8 file can hold it."""
    try:
        repr_of = str(value) if isinstance(value, str) else dumps(value)
        repr_of.encode("utf-8")
    except UnicodeEncodeError:
        raise YamlFailure("invalid_yaml", "an escape names half of a surrogate pair") from None


def _code_point(character: Any) -> int:
    return character if isinstance(character, int) else ord(str(character)[:1] or "\0")


def _failure(problem: yaml.MarkedYAMLError) -> YamlFailure:
    mark = problem.problem_mark or problem.context_mark
    words = [str(part) for part in (problem.context, problem.problem) if part]
    message = ", ".join(dict.fromkeys(words)) or "the YAML cannot be parsed"
    code = "yaml_limits" if "nesting" in message or "recursion" in message else "invalid_yaml"
    return YamlFailure(code, message, mark.line if mark else None, mark.column if mark else None)


class _Builder:
    """Nodes to values, counting what aliases expand to."""

    def __init__(self, size: int) -> None:
        self.nodes_left = size + ALIAS_NODES
        self.characters_left = size + ALIAS_CHARACTERS
        self.key_lines: dict[str, int] = {}
        self.problems: list[YamlProblem] = []

    def build(self, node: Any, depth: int) -> Any:
        self.nodes_left -= 1
        if type(node) is ScalarNode:
            return self.scalar(node)
        if depth >= MAX_DEPTH:
            raise YamlFailure("yaml_limits", f"nested deeper than {MAX_DEPTH} levels", node.start_mark.line)
        if self.nodes_left < 0:
            raise self.too_large(node)
        if node.tag:
            self.check_tag(node)
        if type(node) is SequenceNode:
            return [self.build(item, depth + 1) for item in node.value]
        return self.mapping(node, depth)

    def too_large(self, node: Any) -> YamlFailure:
        return YamlFailure(
            "yaml_limits", "the aliases of this document expand too far", node.start_mark.line
        )

    def scalar(self, node: Any) -> Any:
        text: str = node.value
        self.characters_left -= len(text)
        if self.characters_left < 0:
            raise self.too_large(node)
        tag = node.tag
        if not tag:
            return text if node.style else plain_value(text)
        if tag in _TYPED_TAGS:
            return plain_value(text)
        if tag is not _QUOTED and tag not in _DROPPED_TAGS:
            self.check_tag(node)
        return text

    def check_tag(self, node: Any) -> None:
        """Local tags such as `!note` are dropped with a remark; tags that ask for an object are refused."""
        tag: str = node.tag
        if tag in _DROPPED_TAGS or tag in _TYPED_TAGS:
            return
        line = node.start_mark.line
        if not _LOCAL_TAG.match(tag):
            raise YamlFailure("invalid_yaml", f"the tag {_short(tag)} asks for an object", line, node.start_mark.column)
        self.problems.append(YamlProblem("yaml_tag", f"the YAML tag {_short(tag)} is ignored", line))

    def mapping(self, node: Any, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        for key_node, value_node in node.value:
            self.nodes_left -= 1
            if type(key_node) is not ScalarNode:
                mark = key_node.start_mark
                raise YamlFailure("invalid_yaml", "a key has to be a scalar", mark.line, mark.column)
            # Kept as written, whatever YAML would make of it: `1:`, `true:`, `~:`.
            key: str = key_node.value
            self.characters_left -= len(key)
            value = self.build(value_node, depth + 1)
            if key == _MERGE and not (key_node.tag or key_node.style) and isinstance(value, (dict, list)):
                merged += [part for part in (value if isinstance(value, list) else [value]) if type(part) is dict]
                continue
            if key in result:
                self.problems.append(
                    YamlProblem("duplicate_key", f"the key `{_short(key)}` is given twice; the last one counts",
                                key_node.start_mark.line)
                )
            result[key] = value
            if depth == 0:
                self.key_lines[key] = key_node.start_mark.line
        for part in merged:
            for key, value in part.items():
                result.setdefault(key, value)
        return result


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
