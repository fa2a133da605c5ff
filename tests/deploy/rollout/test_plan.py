"""Plans are read with the place of each mistake, agree with the schema, and are safe to read from anywhere."""

import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

import anywarp.deploy.rollout as package
from anywarp.cli.main import call
from anywarp.deploy.rollout import plan_file
from anywarp.deploy.rollout.forecast import forecast
from anywarp.deploy.rollout.plan import schema

from .plans import text

FIRST = (Path(package.__file__).parent / "first_plan.yaml").read_text()


def problems(changed):
    with pytest.raises(plan_file.PlanErrors) as caught:
        plan_file.parse(changed, "p.yaml")
    return caught.value.problems


def test_first_plan_is_a_plan_and_meets_the_schema():
    plan = plan_file.parse(FIRST, "p.yaml").plan
    assert [s.title for s in plan.stages] == ["shadow", "1 %", "5 %", "25 %", "50 %", "100 %", "bake"]
    jsonschema.validate(YAML(typ="safe", pure=True).load(FIRST), schema())


@pytest.mark.parametrize(
    "old, new, line_of, says",
    [
        ("capacity: 30", "capacity: -1", "capacity: -1", "greater than 0"),
        ("requests_per_second: 20", "requests_per_minute: 20", "requests_per_minute", "no key"),
        ("http://127.0.0.1:9001", "http://u:p@127.0.0.1:9001/x", "u:p@", "scheme, host and port"),
        ("kind: bake,", "kind: bake, share: 50 %,", "kind: bake", "leave share out"),
        ("at_least: 1s", "at_least: soon", "soon", "a duration such as"),
        ("share: 10 %", "share: ten", "ten", "a share such as"),
        ("kind: errors", "kind: eros", "kind: eros", "one of"),
        ("ratio_at_most: 1.5", "ratio_at_most: 1.5, stages: [7 %]", "version", "7 %"),
        ("version: 1", "version: 1\nversion: 1", "version: 1", "twice"),
        ("name: chat", "name: ../chat", "../chat", "pattern"),
    ],
)
def test_mistake_is_said_with_its_place(old, new, line_of, says):
    changed = text().replace(old, new, 1)
    first = next(p for p in problems(changed) if says in p.message)
    assert first.code == "Y070"
    told = first.as_json()
    lines = changed.splitlines()
    assert line_of in lines[told["line"] - 1] or line_of == "version"


def test_all_mistakes_are_said_at_once():
    assert len(problems(text().replace("capacity: 30", "capacity: -1").replace("kind: proxy", "kind: pro"))) == 3


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "[]",
        "a: [",
        "a: " + "[" * 5000,
        "- " * 5000,
        "\x00",
        "x: !!python/object:os.system {}",
        "- a",
        "a: 1\n\tb: 2",
    ],
)
def test_what_is_no_plan_is_refused(bad):
    assert problems(bad)


def test_aliases_cannot_blow_up():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 10)}]\n" for n in range(9)
    )
    assert "by aliases" in problems(bomb)[0].message


def test_large_file_is_refused(tmp_path):
    (tmp_path / "p.yaml").write_bytes(b"#" * (2 << 20))
    with pytest.raises(Exception, match="more than 1 MiB"):
        plan_file.read(tmp_path / "p.yaml")


def test_forecast_names_what_would_end_undecided():
    plan = plan_file.parse(text(gates="  - {kind: errors, more_at_most: 0.01 %}"), "p").plan
    shadow = forecast(plan)[0]
    assert shadow.undecided == ("errors",)
    easy = forecast(plan_file.parse(text(gates="  - {kind: errors, more_at_most: 50 %}"), "p").plan)[0]
    assert easy.undecided == () and easy.lasts is not None and easy.lasts <= 60


def test_plan_of_the_command_line(tmp_path, capsys):
    place = tmp_path / "first.yaml"
    assert call(["rollout", "plan", "--new", str(place)]) == 0
    assert call(["rollout", "plan", "--new", str(place)]) == 2
    assert call(["rollout", "plan", str(place), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [s["stage"] for s in told["stages"]][-1] == "bake"
    assert told["cost of holding the source"] < told["cost of both pools"]
    place.write_text(place.read_text().replace("capacity: 40  ", "capacity: 0  "))
    assert call(["rollout", "plan", str(place)]) == 2
    assert "capacity" in capsys.readouterr().err
