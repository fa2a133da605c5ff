"""PromQL: the tree has the parts that another parser finds, in the places where they stand."""

from __future__ import annotations

from typing import Any

import promql_parser
from hypothesis import given
from hypothesis import strategies as st

from anywarp.migrate.formats.promql import Node, tree

LABELS = st.sampled_from(["gpu", "Hostname", "pod", "by", "on_x"]).filter(lambda name: name != "by")
VALUES = st.sampled_from(['"a"', "'b|c'", '"\\"x\\""', "`d`", '"{y}"'])
MATCHERS = st.lists(st.builds("{}{}{}".format, LABELS, st.sampled_from(["=", "!=", "=~", "!~"]), VALUES), max_size=3)
SELECTORS = st.builds(
    lambda name, braces, matchers: name + (f"{{{' , '.join(matchers)}}}" if braces or matchers else ""),
    st.sampled_from(["up", "DCGM_FI_DEV_GPU_UTIL", "a:b:rate5m", "sum_x", "offset_x"]),
    st.booleans(),
    MATCHERS,
)
NAMED = st.lists(LABELS, max_size=2).map(", ".join)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(
            "(({}) {} {})".format,
            inner,
            st.sampled_from(["+", "/", "==", ">", "> bool", "^"]),
            st.sampled_from(["1", "-2.5", "0x1F", "Inf"]),
        ),
        st.builds("{} {} on ({}) {}".format, inner, st.sampled_from(["*", "and", "unless", "or"]), NAMED, inner),
        st.builds("{} * on ({}) group_left ({}) {}".format, inner, st.just("gpu"), st.just("pod"), inner),
        st.builds("{} by ({}) ({})".format, st.sampled_from(["sum", "AVG", "count"]), NAMED, inner),
        st.builds("{}({}) without ({})".format, st.sampled_from(["max", "stddev"]), inner, NAMED),
        st.builds("topk(3, {})".format, inner),
        st.builds("abs( {} )  # note".format, inner).map(lambda text: text + "\n"),
        st.builds("avg_over_time(({})[1h:5m] offset 10m)".format, inner),
        st.builds("-({})".format, inner),
    )


LEAVES = st.one_of(SELECTORS, st.builds("rate({}[5m])".format, SELECTORS), st.builds("{} offset 1h".format, SELECTORS))


def selected(node: Any) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the selectors of a tree of promql-parser's, in order: name, and labels with values."""
    kind = type(node).__name__
    if kind == "VectorSelector":
        return [(node.name, sorted((one.name, one.value) for one in node.matchers.matchers))]
    if kind == "MatrixSelector":
        return selected(node.vector_selector)
    parts = {
        "Call": "args",
        "BinaryExpr": "lhs rhs",
        "AggregateExpr": "expr",
        "ParenExpr": "expr",
        "UnaryExpr": "expr",
        "SubqueryExpr": "expr",
    }
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for name in parts.get(kind, "").split():
        below = getattr(node, name)
        for one in below if isinstance(below, list) else [below]:
            found += selected(one)
    return found


def unquoted(value: str) -> str:
    return value[1:-1].replace('\\"', '"')


@given(st.recursive(LEAVES, _grown, max_leaves=5))
def test_selectors_are_those_of_another_parser_and_stand_where_they_are_said_to(text: str) -> None:
    root = tree(text)
    ours = [
        (
            node.name.text if node.name else "",
            sorted((one.label.text, unquoted(one.value.text)) for one in node.matchers),
        )
        for node in root.walk()
        if node.kind == "selector"
    ]
    assert ours == selected(promql_parser.parse(text))
    for node in root.walk():
        _placed(text, node)


def _placed(text: str, node: Node) -> None:
    """A part holds its parts in order, none over another, and every name stands where it says."""
    place = node.start
    for child in node.children:
        assert place <= child.start < child.end <= node.end
        place = child.end
    names = [one for matcher in node.matchers for one in (matcher.label, matcher.value)]
    for one in [*node.labels, *node.kept, *names, *([node.name] if node.name else [])]:
        assert text[one.start : one.end] == one.text and node.start <= one.start < one.end <= node.end


def test_labels_are_found_wherever_an_expression_names_them() -> None:
    def named(text: str) -> list[str]:
        root = tree(text)
        found = sorted((one for node in root.walk() for one in node.label_names()), key=lambda one: one.start)
        assert all(text[one.start : one.end] == one.text for one in found)
        return [one.text for one in found]

    assert named("sum by (a) (x{b='1'}) / on (c) group_left (d) y") == ["a", "b", "c", "d"]
    assert named("label_values(x{a='1'}, b)") == ["a", "b"]
    assert named('label_replace(x, "a", "$1", "b", "(.*)")') == ["a", "b"]
    assert named('label_join(x, "a", ",", "b", "c")') == ["a", "b", "c"]
