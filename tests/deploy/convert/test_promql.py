"""PromQL: the converted expression has the same value, by an evaluation of its own that knows nothing of how expressions are converted.

Both expressions are evaluated on made-up series: what NVIDIA's exporter would say, and what AMD's would say of the same GPUs.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import promql_parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Change, Options, Refusal
from anywarp.deploy.convert.promql import expression
from anywarp.migrate.formats.promql import NotRead, tree
from anywarp.migrate.target import Target

MI300 = Options()
OPEN = Options(target=Target("hip", "", "7.1"))
HOSTS, CARDS, TIMES = ("a", "b"), ("0", "1", "2"), tuple(range(0, 3600, 60))


def converted(text: str, options: Options = MI300) -> str:
    data = text.encode()
    found = list(expression(data, options))
    assert not [one for one in found if isinstance(one, Refusal)], found
    changes = sorted((one for one in found if isinstance(one, Change)), key=lambda one: (one.start, one.end))
    out, place = b"", 0
    for change in changes:
        out += data[place : change.start] + change.replacement
        place = change.end
    return (out + data[place:]).decode()


def refused(text: str, options: Options = MI300) -> str:
    [one] = [one for one in expression(text.encode(), options) if isinstance(one, Refusal)]
    assert not [one for one in expression(text.encode(), options) if isinstance(one, Change)], "all or nothing"
    return one.code


# The truth about six GPUs, and how each exporter tells it (units by the exporters' own lists of metrics).


def _truth(host: str, card: str, time: int) -> dict[str, float]:
    seed = (7 if host == "a" else 11) + 3 * int(card)
    return {
        "busy": (seed * time // 60 % 97) / 100,
        "energy": seed * 50.0 * time,
        "used": 1000.0 + seed * (time // 60 % 13),
        "clock": 900.0 + seed * (time // 60 % 17),
        "power": 200.0 + seed * (time // 60 % 19),
        "heat": 30.0 + seed % 7 + time // 600,
        "errors": float(seed * time // 900),
    }


def _series() -> dict[tuple[str, frozenset[tuple[str, str]]], list[tuple[int, float]]]:
    found: dict[tuple[str, frozenset[tuple[str, str]]], list[tuple[int, float]]] = {}

    def tell(name: str, labels: dict[str, str], time: int, value: float) -> None:
        found.setdefault((name, frozenset(labels.items())), []).append((time, value))

    for host in HOSTS:
        for card in CARDS:
            for time in TIMES:
                true = _truth(host, card, time)
                old = {"gpu": card, "Hostname": host, "pod": f"p{card}"}
                tell("DCGM_FI_PROF_GR_ENGINE_ACTIVE", old, time, true["busy"])
                tell("DCGM_FI_DEV_GPU_UTIL", old, time, 100 * true["busy"])
                tell("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", old, time, 1e3 * true["energy"])
                tell("DCGM_FI_DEV_FB_USED", old, time, true["used"])
                tell("DCGM_FI_DEV_FB_FREE", old, time, 80000 - true["used"])
                tell("DCGM_FI_DEV_SM_CLOCK", old, time, true["clock"])
                tell("DCGM_FI_DEV_POWER_USAGE", old, time, true["power"])
                tell("DCGM_FI_DEV_GPU_TEMP", old, time, true["heat"])
                tell("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", old, time, true["errors"])
                new = {"gpu_id": card, "hostname": host, "pod": f"p{card}"}
                tell("gpu_prof_gui_util_percent", new, time, 100 * true["busy"])
                tell("gpu_gfx_activity", new, time, 100 * true["busy"])
                tell("gpu_energy_consumed", new, time, 1e6 * true["energy"])
                tell("gpu_used_vram", new, time, true["used"])
                tell("gpu_free_vram", new, time, 80000 - true["used"])
                tell("gpu_ecc_uncorrect_total", new, time, true["errors"])
                tell("gpu_junction_temperature" if host == "a" else "gpu_edge_temperature", new, time, true["heat"])
                tell("gpu_package_power" if host == "a" else "gpu_average_package_power", new, time, true["power"])
                for engine in range(3):
                    where = {**new, "clock_index": str(engine)}
                    tell("gpu_clock", {**where, "clock_type": "system"}, time, true["clock"] - 10 * engine)
                    tell("gpu_clock", {**where, "clock_type": "memory"}, time, 5000)
    return found


SERIES = _series()
Vector = dict[frozenset[tuple[str, str]], float]


@dataclass
class Range:
    samples: dict[frozenset[tuple[str, str]], list[tuple[int, float]]]


def evaluate(node: Any, now: int = 3540) -> Any:
    """Evaluate a tree of promql_parser as Prometheus' documentation describes its parts; rates are slopes between the ends."""
    return _EVALUATORS[type(node).__name__](node, now)


def _selected(node: Any, now: int) -> list[tuple[frozenset[tuple[str, str]], list[tuple[int, float]]]]:
    found = []
    for (name, labels), samples in SERIES.items():
        have = dict(labels)
        names = [m for m in node.matchers.matchers if m.name == "__name__"]
        if (node.name and node.name != name) or not all(_fits(m, name) for m in names):
            continue
        if all(_fits(m, have.get(m.name, "")) for m in node.matchers.matchers if m.name != "__name__"):
            found.append((labels, samples))
    return found


def _fits(matcher: Any, value: str) -> bool:
    sign = str(matcher.op)
    whole = re.fullmatch(matcher.value, value) is not None
    answers = {"MatchOp.Equal": value == matcher.value, "MatchOp.NotEqual": value != matcher.value}
    return {**answers, "MatchOp.Re": whole, "MatchOp.NotRe": not whole}[sign]


def _ago(node: Any) -> float:
    return node.offset.total_seconds() if node.offset else 0


def _vector(node: Any, now: int) -> Vector:
    at = now - _ago(node)
    return {
        labels: [v for t, v in samples if t <= at][-1]
        for labels, samples in _selected(node, now)
        if samples[0][0] <= at
    }


def _matrix(node: Any, now: int) -> Range:
    at, width = now - _ago(node.vector_selector), node.range.total_seconds()
    return Range(
        {labels: [(t, v) for t, v in s if at - width < t <= at] for labels, s in _selected(node.vector_selector, now)}
    )


def _subquery(node: Any, now: int) -> Range:
    found: dict[frozenset[tuple[str, str]], list[tuple[int, float]]] = {}
    step = int(node.step.total_seconds())
    for time in range(int(now - node.range.total_seconds()) + step, now + 1, step):
        for labels, value in evaluate(node.expr, time).items():
            found.setdefault(labels, []).append((time, value))
    return Range(found)


_OVER = {
    "rate": lambda s: (s[-1][1] - s[0][1]) / (s[-1][0] - s[0][0]),
    "increase": lambda s: s[-1][1] - s[0][1],
    "delta": lambda s: s[-1][1] - s[0][1],
    "avg_over_time": lambda s: sum(v for _, v in s) / len(s),
    "max_over_time": lambda s: max(v for _, v in s),
    "changes": lambda s: float(sum(a[1] != b[1] for a, b in itertools.pairwise(s))),
    "count_over_time": lambda s: float(len(s)),
}  # fmt: skip


def _call(node: Any, now: int) -> Any:
    args = [evaluate(arg, now) for arg in node.args]
    if node.func.name == "abs":
        return {labels: abs(v) for labels, v in args[0].items()}
    return {labels: _OVER[node.func.name](s) for labels, s in args[0].samples.items() if len(s) > 1}


_TOGETHER = {"sum": sum, "max": max, "min": min, "count": len, "avg": lambda v: sum(v) / len(v)}


def _aggregate(node: Any, now: int) -> Vector:
    groups: dict[frozenset[tuple[str, str]], list[float]] = {}
    names = set(node.modifier.labels) if node.modifier else set()
    without = node.modifier is not None and str(node.modifier.type).endswith("Without")
    for labels, value in evaluate(node.expr, now).items():
        key = frozenset((k, v) for k, v in labels if (k not in names) == without)
        groups.setdefault(key, []).append(value)
    return {key: float(_TOGETHER[str(node.op)](values)) for key, values in groups.items()}  # type: ignore[operator]


def _arithmetic(op: str, left: float, right: float) -> float | None:
    if op in "+-*/":
        return {"+": left + right, "-": left - right, "*": left * right, "/": left / right if right else float("inf")}[
            op
        ]
    return left if {">": left > right, "<": left < right}[op] else None


def _binary(node: Any, now: int) -> Any:
    left, right, op = evaluate(node.lhs, now), evaluate(node.rhs, now), str(node.op)
    if op == "or":
        return {**right, **left}
    if isinstance(left, float) and isinstance(right, float):
        return _arithmetic(op, left, right)
    if isinstance(right, float):
        pairs = {labels: _arithmetic(op, v, right) for labels, v in left.items()}
    elif isinstance(left, float):
        pairs = {labels: _arithmetic(op, left, v) for labels, v in right.items()}
    else:
        on = set(node.modifier.matching.labels) if node.modifier and node.modifier.matching else None

        def key(labels: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
            return labels if on is None else frozenset((k, v) for k, v in labels if k in on)

        other = {key(labels): v for labels, v in right.items()}
        if op == "and":
            return {labels: v for labels, v in left.items() if key(labels) in other}
        pairs = {
            key(labels): _arithmetic(op, v, other[key(labels)]) for labels, v in left.items() if key(labels) in other
        }
    return {labels: value for labels, value in pairs.items() if value is not None}


_EVALUATORS = {
    "VectorSelector": _vector,
    "MatrixSelector": _matrix,
    "SubqueryExpr": _subquery,
    "Call": _call,
    "AggregateExpr": _aggregate,
    "BinaryExpr": _binary,
    "ParenExpr": lambda node, now: evaluate(node.expr, now),
    "NumberLiteral": lambda node, now: float(node.val),
    "UnaryExpr": lambda node, now: {labels: -v for labels, v in evaluate(node.expr, now).items()},
}
_NEW = {"gpu": "gpu_id", "Hostname": "hostname"}


def same(old: str, new: str) -> None:
    before, after = evaluate(promql_parser.parse(old)), evaluate(promql_parser.parse(new))
    renamed = {frozenset((_NEW.get(k, k), v) for k, v in labels): value for labels, value in before.items()}
    assert renamed, "an expression that selects nothing shows nothing"
    assert after == pytest.approx(renamed, rel=1e-12)


EXPRESSIONS = [
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE > 0.2",
    "DCGM_FI_DEV_GPU_UTIL > 20",
    "1 - DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "-DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "rate(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[10m]) / 1000",
    "sum by (Hostname) (increase(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[30m])) / 3.6e6",
    "avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[20m]) * 100",
    "max_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[20m:2m])",
    "changes(DCGM_FI_PROF_GR_ENGINE_ACTIVE[20m])",
    "count_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[20m])",
    "DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)",
    "sum by (gpu, Hostname) (DCGM_FI_DEV_FB_USED{gpu!='1'})",
    "avg without (gpu) (DCGM_FI_DEV_POWER_USAGE)",
    "sum(DCGM_FI_DEV_POWER_USAGE{Hostname=~'a|b'})",
    "avg_over_time(DCGM_FI_DEV_POWER_USAGE[10m]) > 210",
    "DCGM_FI_DEV_SM_CLOCK{gpu='0'} * 1000000",
    "max_over_time(DCGM_FI_DEV_SM_CLOCK[10m])",
    "max by (Hostname) (DCGM_FI_DEV_GPU_TEMP)",
    "DCGM_FI_DEV_POWER_USAGE / on (gpu, Hostname) DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_GPU_UTIL and on (gpu, Hostname) (DCGM_FI_PROF_GR_ENGINE_ACTIVE > 0.2)",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE - DCGM_FI_PROF_GR_ENGINE_ACTIVE offset 10m",
    "abs(delta(DCGM_FI_DEV_FB_USED[10m]))",
    "increase(DCGM_FI_DEV_ECC_DBE_VOL_TOTAL[30m]) > 0",
    "count(DCGM_FI_DEV_GPU_UTIL > 50) by (pod)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_the_value_is_the_same(text: str) -> None:
    same(text, converted(text, OPEN))


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_what_comes_out_is_promql_and_stays_as_it_is(text: str) -> None:
    for options in (MI300, OPEN):
        new = converted(text, options)
        promql_parser.parse(new)
        assert "DCGM" not in new
        assert not list(expression(new.encode(), options))


_METRICS = ["DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_SM_CLOCK"]
_SELECTORS = st.builds(
    lambda name, more: name + more,
    st.sampled_from(_METRICS),
    st.sampled_from(["", "{gpu='1'}", "{Hostname!='b', pod=~'p.*'}"]),
)
_LEAVES = st.one_of(
    _SELECTORS,
    st.builds(lambda f, s: f"{f}({s}[15m])", st.sampled_from(["avg_over_time", "max_over_time", "delta"]), _SELECTORS),
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(
            lambda a, op, n: f"({a}) {op} {n}",
            inner,
            st.sampled_from(["*", "+", "-", "/"]),
            st.sampled_from(["2", "0.5", "1e3"]),
        ),
        st.builds(
            lambda a, op, b: f"({a}) {op} on (gpu, Hostname) ({b})", inner, st.sampled_from(["+", "*", "-"]), inner
        ),
        st.builds(lambda f, a: f"{f} by (gpu, Hostname) ({a})", st.sampled_from(["sum", "max", "avg"]), inner),
        st.builds(lambda a: f"-({a})", inner),
    )


@given(st.recursive(_LEAVES, _grown, max_leaves=6))
def test_any_expression_keeps_its_value(text: str) -> None:
    before = evaluate(promql_parser.parse(text))
    after = evaluate(promql_parser.parse(converted(text, OPEN)))
    renamed = {frozenset((_NEW.get(k, k), v) for k, v in labels): value for labels, value in before.items()}
    assert after == pytest.approx(renamed, rel=1e-9, abs=1e-9)


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from('( ) { } [ ] , by DCGM_FI_DEV_GPU_UTIL = =~ " 5m $x ${y} + - or on rate 1'.split()), max_size=25
    ).map(" ".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(NotRead):
        tree(text)
    list(expression(text.encode("utf-8", "replace"), OPEN))


@pytest.mark.parametrize(
    "text",
    ["(" * 200_000, "-" * 50_000 + "x", "a^" * 30_000 + "a", "a+" * 40_000 + "DCGM_FI_DEV_GPU_UTIL", "{" * 90_000],
)
def test_a_bomb_is_harmless(text: str) -> None:
    list(expression((text + " DCGM_FI_DEV_GPU_UTIL").encode(), OPEN))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("DCGM_FI_DEV_GPU_TEMP > 85", "Y040"),
        ("85 < max(DCGM_FI_DEV_MEMORY_TEMP)", "Y040"),
        ("DCGM_FI_DEV_XID_ERRORS", "Y038"),
        ("DCGM_FI_DEV_GPU_UTIL + DCGM_FI_DEV_ENC_UTIL", "Y038"),
        ("DCGM_FI_SOMETHING_NEW", "Y038"),
        ("DCGM_FI_DEV_GPU_UTIL{device='nvidia0'}", "Y039"),
        ("DCGM_FI_DEV_GPU_UTIL{UUID='GPU-1'}", "Y039"),
        ("sum by (pci_bus_id) (DCGM_FI_DEV_GPU_UTIL)", "Y039"),
        ("DCGM_FI_DEV_GPU_UTIL * on (gpu) other", "Y039"),
        ("label_replace(DCGM_FI_DEV_GPU_UTIL, 'gpu', '$1', 'x', '(.*)')", "Y039"),
        ("{__name__=~'DCGM_FI_DEV_.*'}", "Y039"),
        ("stdvar_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[5m])", "Y041"),
        ("timestamp(DCGM_FI_DEV_SM_CLOCK)", "Y041"),
        ("DCGM_FI_DEV_GPU_UTIL >", "Y041"),
        ("node:DCGM_FI_DEV_GPU_UTIL:avg", "Y041"),
    ],
)
def test_what_cannot_be_carried_over_is_refused_whole(text: str, code: str) -> None:
    assert refused(text) == code


RULES = b"""groups:
- name: gpu
  rules:
  - record: gpu:watts
    expr: rate(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[5m]) / 1000
  - alert: Idle
    expr: avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[10m]) < 0.05
    for: 5m
    annotations:
      summary: "GPU {{ $labels.gpu }} of {{ $labels.Hostname }} at {{ $value }}"
  - alert: Full
    expr: DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE) > 0.9
  - alert: Hungry
    expr: sum by (Hostname) (DCGM_FI_DEV_POWER_USAGE) > 1000
"""

UNIT_TEST = """
rule_files: [rules.yml]
evaluation_interval: 1m
tests:
- interval: 1m
  input_series:
  - series: 'gpu_energy_consumed{gpu_id="0", hostname="a"}'
    values: '0+21000000000x30'
  - series: 'gpu_prof_gui_util_percent{gpu_id="0", hostname="a"}'
    values: '3x30'
  - series: 'gpu_prof_gui_util_percent{gpu_id="1", hostname="a"}'
    values: '7x30'
  - series: 'gpu_used_vram{gpu_id="0", hostname="a"}'
    values: '95x30'
  - series: 'gpu_free_vram{gpu_id="0", hostname="a"}'
    values: '5x30'
  - series: 'gpu_package_power{gpu_id="0", hostname="a"}'
    values: '700x30'
  - series: 'gpu_average_package_power{gpu_id="1", hostname="a"}'
    values: '400x30'
  - series: 'gpu_package_power{gpu_id="0", hostname="b"}'
    values: '900x30'
  promql_expr_test:
  - expr: gpu:watts
    eval_time: 20m
    exp_samples:
    - labels: 'gpu:watts{gpu_id="0", hostname="a"}'
      value: 350
  alert_rule_test:
  - eval_time: 20m
    alertname: Idle
    exp_alerts:
    - exp_labels: {gpu_id: "0", hostname: a}
      exp_annotations: {summary: "GPU 0 of a at 0.03"}
  - eval_time: 20m
    alertname: Full
    exp_alerts:
    - exp_labels: {gpu_id: "0", hostname: a}
  - eval_time: 20m
    alertname: Hungry
    exp_alerts:
    - exp_labels: {hostname: a}
"""


@pytest.mark.promtool
def test_converted_rules_pass_promtools_unit_tests(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    assert promtool is not None
    (tmp_path / "rules.yml").write_bytes(convert(RULES, PurePath("rules.yml"), OPEN).new)
    (tmp_path / "tests.yml").write_text(UNIT_TEST)
    for command in (["check", "rules", "rules.yml"], ["test", "rules", "tests.yml"]):
        done = subprocess.run([promtool, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
