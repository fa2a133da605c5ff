"""Features of Triton's language give numpy's results; all checks of language.py run in one process, in their order."""

import re
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("language.py")
NAMES = re.findall(r"^@check\ndef (\w+)", SCRIPT.read_text(), re.MULTILINE)

pytestmark = [pytest.mark.triton, pytest.mark.slow]

answers = {}


def everything(under_anywarp):
    if not answers:
        done = under_anywarp(SCRIPT)
        answers["stdout"], answers["stderr"] = done.stdout, done.stderr
    return answers["stdout"]


@pytest.mark.parametrize("name", NAMES)
def test_feature_gives_the_values_of_numpy(name, under_anywarp):
    lines = [line for line in everything(under_anywarp).splitlines() if re.match(rf"(ok|FAILED) {name}\b", line)]
    assert lines == [f"ok {name}"], answers["stdout"][-2000:] + answers["stderr"][-2000:]


def test_each_lane_prints_its_value_once(under_anywarp):
    printed = re.findall(r"value: (\d+)", everything(under_anywarp))
    assert sorted(map(int, printed)) == list(range(7000, 7032))


def test_a_failed_assertion_names_its_text_and_line(under_anywarp):
    everything(under_anywarp)
    line = next(i for i, text in enumerate(SCRIPT.read_text().splitlines(), 1) if "tl.device_assert" in text)
    assert "Assertion `too large` failed" in answers["stderr"]
    assert f"{SCRIPT.name}:{line}" in answers["stderr"]
