"""Costs against arithmetic done here, by exact fractions; refusals; the service level; price files that mean harm."""

import datetime
import json
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from anywarp.check.cost import costing, level, prices
from anywarp.check.store import Run, Store
from anywarp.cli.main import call
from anywarp.diagnostics import AnywarpError, Source
from spread import properties

TODAY = datetime.date(2027, 1, 1)
PRICES = """\
currency: EUR
source:
  name: old cards
  price_per_hour: {value: 4.0, low: 3.0, high: 5.0, source: a price list, date: 2026-11-01}
  utilisation: 0.5
  power_watts: 700
target:
  name: new cards
  price_per_hour: 2.5
  utilisation: 0.4
  discount: 0.2
  power_watts: 750
power: {price_per_kwh: 0.3, pue: 1.25}
migration: {hours: 200, rate_per_hour: 90, one_off: 5000, overlap_days: 10, start: 2027-02-01}
demand: {inferences_per_day: 20000000}
"""


def run(identity, done, p99=0.010, low=0.9, high=1.1, **changed):
    alike = {"form": "model", "model": "d", "dtype": "bfloat16", "sizes": {"batch": 8}, "versions": {"torch": "2.13.0"}}
    alike |= changed.pop("alike", {})
    latency = {f"p{p}": {"value": p99 * 1e3, "low": p99 * 900, "high": p99 * 1100} for p in (50, 90, 95, 99)}
    throughput = {"unit": "inferences/s", "items": 8, "value": done, "low": done * low, "high": done * high}
    result = {"form": "model", "alike": alike, "latency_ms": latency, "throughput": throughput, "marks": [], **changed}
    return Run("bench", result, id=identity, model="net.py:Net", device="somewhere")


def read(text=PRICES):
    return prices.parse(Source("prices.yaml", text))


def compare(source=None, target=None, text=PRICES, limits=("none",), anyway=False):
    both = source or [run("a", 1000.0)], target or [run("b", 900.0)]
    return costing.compare(*both, read(text), level.parse(limits), anyway, TODAY)


def code_of(action, *arguments, **named):
    with pytest.raises(AnywarpError) as caught:
        action(*arguments, **named)
    return caught.value.diagnostic


def test_costs_are_what_arithmetic_says():
    found = compare()
    power = Fraction("0.3") * Fraction("1.25") / 1000
    source_item = (4 + 700 * power) / (3600 * 1000 * Fraction("0.5"))
    target_item = (Fraction("2.5") * Fraction("0.8") + 750 * power) / (3600 * 900 * Fraction("0.4"))
    assert found["sides"]["source"]["cost"]["value"] == pytest.approx(float(1000 * source_item))
    assert found["sides"]["target"]["cost"]["value"] == pytest.approx(float(1000 * target_item))
    saving = 20_000_000 * (source_item - target_item)
    assert found["saving_per_day"]["value"] == pytest.approx(float(saving))
    move = 200 * 90 + 5000 + 10 * 20_000_000 * target_item
    assert found["move"] == pytest.approx(float(move))
    days = move / saving
    assert found["break_even"]["days"] == pytest.approx(float(days))
    assert found["break_even"]["date"] == (datetime.date(2027, 2, 1) + datetime.timedelta(-(-days // 1))).isoformat()
    worst = 20_000_000 * (source_item / Fraction("1.1") - target_item / Fraction("0.9"))
    assert found["saving_per_day"]["low"] == pytest.approx(float(worst))


def test_a_commitment_is_paid_until_it_ends():
    text = PRICES.replace("  power_watts: 700\n", "  power_watts: 700\n  committed_until: 2027-05-12\n")
    before, after = compare()["break_even"]["days"], compare(text=text)
    target = after["sides"]["target"]["cost_per_day"]
    saving = after["saving_per_day"]["value"]
    assert after["break_even"]["days"] == pytest.approx(before + 100 + 100 * target / saving)  # 1 February to 12 May


def test_every_number_says_where_it_is_from():
    found = compare()["quantities"]
    assert found["source.price_per_hour"] == {"value": 4, "low": 3, "high": 5, "from": "prices.yaml:4", "note": "a price list, 2026-11-01", "range": "stated"}  # fmt: skip
    assert found["target.discount"]["from"] == "prices.yaml:11" and found["target.discount"]["range"] == "assumed"
    assert (found["target.discount"]["low"], found["target.discount"]["high"]) == (pytest.approx(0.16), pytest.approx(0.24))  # fmt: skip
    assert found["migration.hours"]["from"] == "prices.yaml:14"
    assert found["source.throughput"]["from"] == "result a: inferences per second"


def test_sensitivities_move_one_number_and_are_sorted():
    found = compare()
    rows = {row["name"]: row for row in found["sensitivity"]}
    assert max(rows) and found["sensitivity"][0]["name"] == "source.price_per_hour"
    text = PRICES.replace("value: 4.0", "value: 3.0")
    assert rows["source.price_per_hour"]["saving_per_day"][0] == pytest.approx(compare(text=text)["saving_per_day"]["value"])  # fmt: skip
    swings = [abs(row["saving_per_day"][0] - row["saving_per_day"][1]) for row in found["sensitivity"]]
    assert swings == sorted(swings, reverse=True)
    assert rows["migration.hours"]["saving_per_day"][0] == rows["migration.hours"]["saving_per_day"][1]
    assert rows["migration.hours"]["break_even_days"][0] < rows["migration.hours"]["break_even_days"][1]


def test_what_never_pays_says_so():
    found = compare(target=[run("b", 100.0)])
    assert found["saving_per_day"]["value"] < 0 and found["break_even"]["date"] is None
    assert found["break_even"]["earliest"] is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"alike": {"model": "other"}}, "model: d and other"),
        ({"alike": {"dtype": "float16"}}, "dtype: bfloat16 and float16"),
        ({"alike": {"sizes": {"batch": 4}}}, "sizes batch: 8 and 4"),
    ],
)
def test_sides_that_are_not_alike_are_refused(changed, said):
    found = code_of(compare, target=[run("b", 900.0, **changed)])
    assert found.code == "V033" and said in found.message
    assert f"not alike: {said}" in compare(target=[run("b", 900.0, **changed)], anyway=True)["marks"]


def test_at_a_service_level_each_side_serves_as_many_together_as_it_can():
    slow = run("big", 5000.0, p99=0.050, alike={"sizes": {"batch": 64}})
    found = compare(target=[run("b", 900.0), slow], limits=("call-p99<=20ms",))
    assert found["sides"]["target"]["result"] == "b"
    found = compare(target=[run("b", 900.0), slow], limits=("call-p99<=60ms",))
    assert found["sides"]["target"]["result"] == "big"
    assert not any("batch" in mark for mark in found["marks"])


def test_a_level_that_no_result_surely_holds_is_refused():
    near = run("near", 900.0, p99=0.0095)  # its interval ends at 10.45 ms
    quick = [run("a", 1000.0, p99=0.001)]
    found = code_of(compare, quick, [near], limits=("call-p99<=10ms",))
    assert found.code == "V043" and "near" in found.message and "10.45 ms" in found.message
    near.result["latency_ms"]["p99"]["high"] = None
    assert "too little was measured" in code_of(compare, quick, [near], limits=("call-p99<=90ms",)).message
    assert "says nothing of whole" in code_of(compare, limits=("whole-p99<=1s",)).message
    assert code_of(level.parse, ()).code == "V043"


@pytest.mark.parametrize("text", ["p99<20ms", "call-p99<=20", "call-p98<=20ms", "call-p99<=-1ms", "none ", "call-p99<=9e9s"])  # fmt: skip
def test_a_limit_that_is_none_is_refused(text):
    assert code_of(level.parse, (text,)).code == "V043"


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("value: 4.0", "value: -4"), 4, "must be a number from 0"),
        (("low: 3.0", "low: 4.5"), 4, "must rise"),
        (("utilisation: 0.4", "utilisation: 0"), 10, "from 1e-06 to 1"),
        (("utilisation: 0.4", "utilisation: .nan"), 10, "must be a number"),
        (("utilisation: 0.4", "utilisation: true"), 10, "must be a number"),
        (("discount", "discont"), 11, "target has no 'discont'"),
        (("start: 2027-02-01", "start: soon"), 14, "must be a date"),
        (("currency: EUR", "currency: 7"), 1, "'currency'"),
        (("  name: new cards\n", ""), 8, "'name'"),
        (("pue: 1.25}", "pue: 1.25"), 14, "no YAML"),
        (("demand", "wants"), 15, "the file has no 'wants'"),
    ],
)
def test_a_price_file_that_is_wrong_is_told_by_line(change, line, said):
    found = code_of(read, PRICES.replace(*change))
    assert found.code == "V042" and said in found.message
    assert found.as_json()["line"] == line


@pytest.mark.parametrize("text", ["", "[]", "7", "a: &a [*a]", "!!python/object/apply:os.system [echo]", "a: " * 2000, "x: !!binary ////", "\x00"])  # fmt: skip
def test_hostile_price_files_are_refused(text):
    assert code_of(read, text).code == "V042"


amounts = st.fractions(Fraction(1, 100), 1000, max_denominator=1000)


@properties(30, 1000, amounts, amounts, amounts, st.fractions(Fraction(1, 100), 1, max_denominator=100))
def test_the_cost_of_an_item_is_price_over_what_is_done(price, done, other, used):
    text = f"currency: X\nsource: {{name: s, price_per_hour: {float(price)!r}, utilisation: {float(used)!r}}}\ntarget: {{name: t, price_per_hour: 1, utilisation: 1}}\n"
    found = compare([run("a", float(done))], [run("b", float(other))], text)
    assert found["sides"]["source"]["cost"]["value"] == pytest.approx(float(1000 * price / (3600 * done * used)))
    cost = found["sides"]["source"]["cost"]
    assert cost["low"] <= cost["value"] <= cost["high"]


def test_the_command_prints_writes_and_keeps(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ANYWARP_RESULTS", str(tmp_path / "r.sqlite"))
    (tmp_path / "prices.yaml").write_text(PRICES)
    (tmp_path / "b.json").write_text(json.dumps([run("b", 900.0, marks=["<script>alert(1)</script>"]).as_json()]))
    with Store(tmp_path / "r.sqlite") as store:
        store.add(run("aaaa", 1000.0))
    page = tmp_path / "c.html"
    arguments = ["cost", "--prices", str(tmp_path / "prices.yaml"), "--source", "aaa", "--target", str(tmp_path / "b.json"), "--html", str(page)]  # fmt: skip
    assert call([*arguments, "--level", "call-p99<=20ms"]) == 1  # with a mark
    out = capsys.readouterr().out
    assert "saving a day" in out and "paid back on 20" in out and "prices.yaml:4" in out and "aaaa" in out
    with Store(tmp_path / "r.sqlite") as store:
        (kept,) = store.list("cost")
    assert kept.result["sides"]["source"]["result"] == "aaaa" and kept.id in out
    assert call(["results", "show", kept.id]) == 0 and "paid back on 20" in capsys.readouterr().out
    text = page.read_text()
    assert "<script>" not in text and "&lt;script&gt;" in text and text.count("<rect") >= 10 and "http://" not in text
    assert call(arguments) == 2 and "V043" in capsys.readouterr().err
    assert call([*arguments, "--level", "none", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["result"]["currency"] == "EUR"
