"""The outline of YAML says what a YAML reader says, where it can be read, and something sensible where it cannot."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from anywarp.migrate.formats.outline import MOST_DEPTH, Node, documents


def plain(node: Node) -> object:
    """Return an outline as dictionaries, lists and texts."""
    node = node.real()
    if node.kind == "map":
        return {key.text: plain(value) for key, value in node.pairs}
    if node.kind == "list":
        return [plain(entry) for entry in node.entries]
    return " ".join(node.text.split())


def written(value: object) -> object:
    """Return what a YAML reader composed in the same form."""
    from ruamel.yaml.nodes import MappingNode, SequenceNode

    if isinstance(value, MappingNode):
        return {key.value: written(entry) for key, entry in value.value}
    if isinstance(value, SequenceNode):
        return [written(entry) for entry in value.value]
    return " ".join(str(value.value).split())  # type: ignore[attr-defined]


_TEXT = st.text(alphabet="ab1 :-#{}[]'\"&*!|>,.\\/%@é", max_size=8)
_VALUES = st.recursive(
    _TEXT,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.text(alphabet="abc.-/", min_size=1, max_size=6), inner, min_size=1, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.dictionaries(st.text(alphabet="abc", min_size=1, max_size=3), _VALUES, min_size=1, max_size=4), st.booleans())
def test_what_a_writer_of_yaml_writes_is_read_alike(value: dict[str, object], flow: bool) -> None:
    import io

    out, writer = io.StringIO(), YAML()
    writer.default_flow_style = flow
    writer.width = 4096
    writer.dump(value, out)
    try:
        composed = YAML(typ="safe", pure=True).compose(out.getvalue())
    except YAMLError:  # ruamel writes some texts, such as `[: 1]`, that it does not read
        assume(False)
        return
    assert [plain(node) for node in documents(out.getvalue())] == [written(composed)]


VALID = """%YAML 1.1
--- # a comment
a: &anchor {x: 1, "y z": [1, 'two', {k: v}], e: }
b:
- - nested
  - deeper: &n
      - 1
- key: value   # comment
  other: "quoted # no comment, \\"escaped\\""
- 'it''s'
"c d": |
  line one
    indented: not a key
  # not a comment
e: >-
  folded
  text
f: *anchor
g: plain text
  over lines
h: [1,
  2, # comment
  {a: b}]
i: http://x/y#z
nvidia.com/gpu: 1
j:
  - *n
...
---
second: document
"""


def test_a_document_with_every_construct() -> None:
    composed = [written(node) for node in YAML(typ="safe", pure=True).compose_all(VALID)]
    assert [plain(node) for node in documents(VALID)] == composed


def test_places_are_those_of_keys_and_values() -> None:
    first = documents(VALID)[0]
    places = {key.text: (key.line, key.column, value.line, value.column) for key, value in first.pairs}
    assert places["a"] == (3, 1, 3, 12)
    assert places["nvidia.com/gpu"] == (25, 1, 25, 17)
    block = first.get("c d")
    assert block is not None and (block.body, block.indent) == (12, 2)
    assert first.value("f", "x") == "1"


def test_merge_keys_are_followed_where_a_key_is_looked_up() -> None:
    root = documents("base: &b {x: 1, y: 2}\nmore: &m\n  z: 3\nall:\n  <<: [*b, *m]\n  y: 4\n")[0]
    assert [root.value("all", key) for key in "xyz"] == ["1", "4", "3"]


def test_templates_keep_their_keys() -> None:
    text = """{{- if .Values.gpu }}
spec:
  {{- with .Values.x }}
  nodeSelector:
    {{- toYaml . | nindent 8 }}
    nvidia.com/gpu.present: "true"
  {{- end }}
  image: "{{ .Values.repository }}:{{ .Values.tag }}"
  {{ .Values.key }}: {{ .Values.value | quote }}
{{- end }}
"""
    root = documents(text)[0]
    assert root.value("spec", "nodeSelector", "nvidia.com/gpu.present") == "true"
    assert root.value("spec", "image") == "{{ .Values.repository }}:{{ .Values.tag }}"
    assert root.value("spec", "{{ .Values.key }}") == "{{ .Values.value | quote }}"


def test_bombs_are_walked_once() -> None:
    text = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
    assert sum(1 for _ in documents(text)[0].walk()) < 500
    loop = documents("a: &a\n  b: *a\n")[0]
    assert loop.at(*"abbbbbbbbb") is None or loop.value(*"abbbb") == ""


@pytest.mark.parametrize(
    "text",
    [
        "- " * 50_000,
        "[" * 300_000,
        "{a: " * 100_000,
        'a: "never closed\n' * 20_000,
        "a: [\n" * 4_000,
        "a" + " " * 300_000,
        "'" * 200_000,
        "k: {{" * 50_000,
        "{{a}}x" * 50_000,
        "? \n: \n" * 20_000,
        "\t- a:\t\n" * 20_000,
        "a: |\n" * 40_000,
        "&a " * 100_000,
        "a:\n" + " b:\n" * 50_000,
        "".join(" " * (i % 700) + "k:\n" for i in range(5_000)),
    ],
    ids=range(15),
)
def test_hostile_text_takes_linear_time_and_raises_nothing(text: str) -> None:
    for root in documents(text):  # what is quadratic here takes minutes, what recurs dies
        assert all(node.line >= 1 for _, node in root.walk())


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(alphabet="ab: -\n\t{}[]'\"&*!|>#,?%.", max_size=120))
def test_no_text_is_refused(text: str) -> None:
    for root in documents(text):
        for key, node in root.walk():
            assert node.line >= 1 and node.column >= 1 and (key is None or key.line >= 1)


def test_flow_collections_deeper_than_the_bound_are_text() -> None:
    root = documents("a: " + "[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1))[0]
    assert root.value("a").startswith("[[")
