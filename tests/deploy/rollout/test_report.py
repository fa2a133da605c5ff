"""The report is one page that loads nothing and escapes what it is given."""

import re
from html.parser import HTMLParser

from anywarp.deploy.rollout.gates import Verdict
from anywarp.deploy.rollout.report import page
from anywarp.deploy.rollout.report.facts import Curve, facts
from anywarp.deploy.rollout.state import State

from .plans import plan

EVIL = '</svg><script>alert("x")</script>'


def verdict(result="open", scope="all", **given):
    numbers = {"source": 100, "target": 90, "estimate": 0.01, "lower": -0.02, "upper": 0.04, "limit": 0.1, **given}
    return Verdict(
        gate=1,
        name="errors",
        scope=scope,
        result=result,
        unit="target - source",
        false_alarm=0.001,
        missed=0.05,
        required=True,
        **numbers,
    )


def report(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_ROLLOUTS", str(tmp_path))
    state = State(plan())
    assert state.acquire("me")
    state.begin(plan(), "text", "digest", "me")
    state.change("watching", "shadow", "shadow is in effect", phase="watching")
    state.look("shadow", 0, 5.0, [verdict().as_json(), verdict(scope=f"route {EVIL}").as_json()])
    state.look("shadow", 0, 9.0, [verdict("pass", estimate=0.0, upper=0.03).as_json()])
    evidence = {"verdicts": [verdict("fail").as_json()], "cause": {"in words": f"since {EVIL}"}}
    state.change("failed", "shadow", f"failed {EVIL}", evidence, phase="reverting", reason=EVIL)
    state.change("reverted", "shadow", "rolled back", phase="reverted")
    told = facts(plan(), state)
    state.close()
    return told, page.page(told)


class Strict(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.bad = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.bad += [v for k, v in attributes if k in ("src", "href") and not v.startswith("#")]


def test_page_loads_nothing_and_escapes_everything(tmp_path, monkeypatch):
    _, made = report(tmp_path, monkeypatch)
    parser = Strict()
    parser.feed(made)
    assert parser.bad == [] and "script" not in parser.tags and "url(" not in made
    assert made.count("alert(&#34;x&#34;)") >= 4
    assert all("aria-label" in found for found in re.findall(r"<svg[^>]*>", made))


def test_page_has_decisions_with_their_numbers(tmp_path, monkeypatch):
    told, made = report(tmp_path, monkeypatch)
    for number in ("-2 %", "4 %", "10 %", "rolled back"):
        assert number in made
    assert told.curves[0].scope == "all" and len(told.curves[0].points) == 2


def test_points_of_a_chart_are_where_the_numbers_say():
    points = [
        {"stage": "s", "target": 1, "result": "open", "estimate": e, "lower": e - 1, "upper": e + 1}
        for e in (1.0, 2.0, 3.0)
    ]
    drawn = page.chart(Curve(0, "g", "all", "nats", 2.0, points))
    heights = [float(p.split(",")[1]) for p in drawn.parts[0].line.split()]
    assert heights[0] > heights[1] > heights[2] and abs(heights[1] - drawn.limit) < 0.02
    band = [float(p.split(",")[1]) for p in drawn.parts[0].band.split()]
    assert band[0] < heights[0] < band[-1]


def test_many_looks_and_missing_numbers_are_drawn():
    points = [
        {"stage": f"{n // 500}", "target": 1, "result": "open", "estimate": 1.0, "lower": None, "upper": None}
        for n in range(2000)
    ]
    drawn = page.chart(Curve(0, "g", "all", "nats", 2.0, points))
    assert sum(len(p.line.split()) for p in drawn.parts) <= page.MOST_POINTS and len(drawn.parts) == 4
