"""Rollouts on the pages: read while another process drives them, ended where that was allowed."""

import pytest

from anywarp.check import headlines
from anywarp.check.store import opened
from anywarp.deploy.rollout import plan_file
from anywarp.deploy.rollout.kept import keep
from anywarp.deploy.rollout.state import State
from anywarp.deploy.ui import moving, shown, site
from anywarp.diagnostics import AnywarpError
from deploy.rollout.plans import text

VERDICT = {
    "gate": 0, "name": "errors", "scope": "to 512 <b>", "result": "fail", "source": 300, "target": 31, "estimate": 0.3, "lower": 0.2, "upper": None,
    "limit": 0.1, "unit": "target - source", "false_alarm": 0.01, "missed": 0.1, "required": True, "note": "",
}  # fmt: skip


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("ANYWARP_ROLLOUTS", str(tmp_path / "rollouts"))
    monkeypatch.setenv("ANYWARP_RESULTS", str(tmp_path / "results.sqlite"))
    written = text(name="chat")
    plan = plan_file.parse(written, "plan.yaml").plan
    made = State(plan)
    assert made.acquire("a test")
    made.begin(plan, written, "digest", "a test <script>")
    yield made
    made.close()


def test_a_rollout_is_shown_while_it_is_driven(state):
    state.change("moved", "10 %", "to ten percent <script>", None, phase="watching", stage=1, share=0.1, watched=61.0)
    state.look("10 %", 1, 61.0, [VERDICT])
    (one,) = moving.rollouts()
    assert (one.name, one.stage, one.share, one.ended) == ("chat", "10 %", "10 %", False)
    page = site.rollout("chat", still=False, changes=False)
    assert 'http-equiv="refresh"' in page and "<script" not in page and "to ten percent &lt;script" in page
    assert "to 512 &lt;b&gt;" in page and "30 %" in page and ">fail<" in page
    assert 'http-equiv="refresh"' not in site.rollout("chat", still=True, changes=False)
    assert "chat" in site.overview() and "<form" not in page and 'method="post"' in site.rollout("chat", False, True)
    assert "chat" in site.rollout_report("chat")


def test_it_is_told_to_end_once(state):
    state.change("moved", "10 %", "to ten percent", None, phase="watching", stage=1, share=0.1)
    assert site.abort("chat") == "/rollouts/chat"
    assert state.row().wish == "abort"
    state.change("reverted", "10 %", "went back", None, phase="reverted", share=0.0, reason="a person says abort")
    with pytest.raises(AnywarpError) as caught:
        site.abort("chat")
    assert caught.value.diagnostic.code == "Y132" and 'method="post"' not in site.rollout("chat", False, True)
    assert moving.rollouts()[0].ended


def test_one_that_cannot_be_read_leaves_the_others(state, tmp_path):
    broken = tmp_path / "rollouts" / "broken"
    broken.mkdir()
    (broken / "rollout.sqlite").write_bytes(b"nothing" * 200)
    found = {one.name: one.headline for one in moving.rollouts()}
    assert set(found) == {"chat", "broken"} and found["broken"].mark == "bad"


def test_pages_only_read(state, monkeypatch):
    opened_to_read = []

    def opening(plan, reading=False):
        opened_to_read.append(reading)
        return State(plan, reading)

    monkeypatch.setattr(moving, "State", opening)
    site.rollout("chat", still=False, changes=True)
    assert site.overview() and site.rollout_report("chat") and opened_to_read and all(opened_to_read)
    site.abort("chat")
    assert opened_to_read[-1] is False


def test_pages_change_nothing(state, tmp_path):
    """Who looks can neither write a state nor make one."""
    plan = plan_file.parse(text(name="chat"), "plan.yaml").plan
    looking = State(plan, reading=True)
    assert looking.row() == state.row()
    with pytest.raises(AnywarpError, match="readonly") as caught:
        looking.wish("abort", "a page")
    assert caught.value.diagnostic.code == "Y072" and state.row().wish == ""
    looking.close()
    with pytest.raises(AnywarpError):
        State(plan.model_copy(update={"name": "other"}), reading=True)
    assert [place.name for place in (tmp_path / "rollouts").iterdir()] == ["chat"]


@pytest.mark.parametrize("phase, mark", [("done", "good"), ("reverted", "bad")])
def test_a_rollout_that_is_over_is_among_the_results_once(state, phase, mark):
    plan = plan_file.parse(text(name="chat"), "plan.yaml").plan
    assert keep(plan, state) is None  # not over
    cause = {"in words": "requests fail on the target <b>", "kind": "errors"}
    state.change(
        "failed", "10 %", "errors", {"verdicts": [], "cause": cause} if phase == "reverted" else None, phase="reverting"
    )
    state.change("end", "10 %", "the end", None, phase=phase, reason="so it was")
    identity = keep(plan, state)
    assert identity and keep(plan, state) is None
    with opened() as store:
        run = store.get(identity)
    told = headlines.headline(run)
    assert told.mark == mark and "so it was" in told.text and ("requests fail" in told.text) == (phase == "reverted")
    page = shown.report_of(run)()
    assert "<svg" in page or "so it was" in page
    assert "<b>" not in site.overview().replace("&lt;b&gt;", "")
