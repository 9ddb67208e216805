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
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from okf_catalog.format.values import Plain, dumps, is_typed_scalar

MAX_DEPTH = 100
"""Levels of nesting; real frontmatter has three or four."""
# A document of n characters has at most n + 1 nodes and n characters of text unless
# aliases repeat some; these are the extra amounts that aliases may add.
ALIAS_NODES = 10_000
ALIAS_CHARACTERS = 1_000_000

_NULLS = frozenset(["", "~", "null", "Null", "NULL"])
_PLAIN, _QUOTED, _COLLECTION = "plain", "quoted", "collection"
_CORE = "tag:yaml.org,2002:"
_DROPPED_TAGS = frozenset(_CORE + name for name in ("binary", "timestamp", "seq", "map", "str"))
_TYPED_TAGS = frozenset(_CORE + name for name in ("int", "float", "bool", "null"))
_LOCAL_TAG = re.compile(r"![^/:!]*\Z")
_MAY_BE_TYPED = frozenset("+-.0123456789tTfF")
_MERGE = "<<"


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
    """Instead of PyYAML's tag resolution: only whether a scalar was quoted matters."""

    def resolve(self, kind: type, _value: str | None, implicit: tuple[bool, bool] | bool | None) -> str:
        if kind is not yaml.ScalarNode:
            return _COLLECTION
        return _PLAIN if isinstance(implicit, tuple) and implicit[0] else _QUOTED

    def descend_resolver(self, _parent: Any, _index: Any) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


class PurePythonComposer(_Resolve, Reader, Scanner, Parser, Composer):
    """The same meaning where PyYAML was built without libyaml, about ten times slower."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)


FastComposer: Any
try:
    from yaml.cyaml import CParser

    class _CComposer(_Resolve, CParser):
        pass

    FastComposer = _CComposer
except ImportError:  # PyYAML without libyaml
    FastComposer = PurePythonComposer


def load(text: str, composer: Any = FastComposer) -> Loaded:
    """Read one YAML document.

    Mappings become dicts with text keys, sequences lists, plain nulls None, plain
    numbers and booleans `Plain`, every other scalar `str`. Raises `YamlFailure`.
    """
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
        before = text[: problem.position]
        raise YamlFailure(
            "invalid_yaml",
            f"character U+{_code_point(problem.character):04X} is not allowed in YAML",
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
    """libyaml refuses `"\\ud800"`, the Python scanner lets it pass; no UTF-8 file can hold it."""
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
        if type(node) is yaml.ScalarNode:
            return self.scalar(node)
        if depth >= MAX_DEPTH:
            raise YamlFailure("yaml_limits", f"nested deeper than {MAX_DEPTH} levels", node.start_mark.line)
        if self.nodes_left < 0:
            raise self.too_large(node)
        if node.tag is not _COLLECTION:
            self.check_tag(node)
        if type(node) is yaml.SequenceNode:
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
        if tag is _QUOTED:
            return text
        if tag is not _PLAIN:
            if tag in _TYPED_TAGS:
                return None if text in _NULLS else Plain(text) if is_typed_scalar(text) else text
            if tag not in _DROPPED_TAGS:
                self.check_tag(node)
            return text
        if text in _NULLS:
            return None
        if text[0] in _MAY_BE_TYPED and is_typed_scalar(text):
            return Plain(text)
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
            if type(key_node) is not yaml.ScalarNode:
                mark = key_node.start_mark
                raise YamlFailure("invalid_yaml", "a key has to be a scalar", mark.line, mark.column)
            # Kept as written, whatever YAML would make of it: `1:`, `true:`, `~:`.
            key: str = key_node.value
            self.characters_left -= len(key)
            value = self.build(value_node, depth + 1)
            if key == _MERGE and key_node.tag is _PLAIN and isinstance(value, (dict, list)):
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
