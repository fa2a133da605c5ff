"""Plans of fleets: where a mistake is, which tasks are made, and what a task's key depends on."""

import json
import re

import pytest

from anywarp.deploy import checked_yaml
from anywarp.deploy.fleet import plan
from anywarp.deploy.fleet.expansion import tasks_of
from anywarp.diagnostics import AnywarpError

HEAD = "version: 1\nname: x\n"


def tasks(tmp_path, text):
    place = tmp_path / "plan.yaml"
    place.write_text(HEAD + text)
    return tasks_of(plan.read(place))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("entries:\n  - {name: a, verb: bench, command: [x], speed: 1}\n", 4, "speed: is no key"),
        ("entries:\n  - {name: a, verb: dance}\n", 4, "needs a `kind`"),
        ("entries:\n  - name: a\n    verb: bench\n", 4, "one of model and command"),
        ("entries:\n  - {name: a, verb: bench, command: [x], axes: {batch: [1]}}\n", 4, "no axis but device"),
        ("entries:\n  - {name: a, verb: bench, model: 'm:N', axes: {batch: [many]}}\n", 4, "must be numbers"),
        ("entries:\n  - {name: a, verb: verify, recording: -x, command: [x]}\n", 4, "should match pattern"),
        ('entries:\n  - name: a\n    verb: bench\n    command: ["a\\0b"]\n', 6, "the character 0"),
        ("machines: [{kind: slurm, options: ['-p x']}]\nentries: [{name: a, verb: assess, tree: .}]\n", 3, "should match pattern"),
        ("machines: [{kind: slurm, options: [\"--a=b\\nc\"]}]\nentries: [{name: a, verb: assess, tree: .}]\n", 3, "should match pattern"),
        ("entries: [{name: a, verb: assess, tree: ., machines: [moon]}]\n", 1, "there is no machine moon"),
        ("entries: [{name: a, verb: assess, tree: .}, {name: a, verb: assess, tree: .}]\n", 1, "two entries are called a"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place(tmp_path, text, line, words):
    with pytest.raises(checked_yaml.FileErrors) as caught:
        tasks(tmp_path, text)
    found = caught.value.problems[0].as_json()
    assert (
        found["code"] == "Y140"
        and found["line"] == line
        and words.replace("kind", "verb" if "dance" in text else "kind") in found["message"]
    )


def test_axes_and_machines_make_tasks(tmp_path):
    made = tasks(
        tmp_path,
        "machines: [{kind: here}, {kind: slurm, name: far}]\n"
        "entries:\n  - {name: m, verb: bench, model: 'n.py:N', input: 'x:f32[batch]', axes: {device: [host, hip], batch: [1, 16]}}\n"
        "  - {name: v, verb: verify, recording: b.tar, command: [python, g.py], axes: {device: [hip]}, machines: [far]}\n"
        "  - {name: t, verb: assess, tree: ., axes: {target: ['hip:gfx942', cpu]}, machines: [here]}\n",
    )
    assert [(t.entry, t.machine, dict(t.axes)) for t in made[:2]] == [
        ("m", "here", {"device": "host", "batch": "1"}),
        ("m", "far", {"device": "host", "batch": "1"}),
    ]
    assert len(made) == 2 * 2 * 2 + 1 + 2 and len({t.key for t in made}) == len(made)
    assert made[7].words == ("bench", "--seconds=3", "--device=hip", "--axis=batch=16", "--input=x:f32[batch]", "--", "n.py:N")  # fmt: skip
    assert made[8].words == ("verify", "b.tar", "--", "{anywarp}", "run", "--device", "hip", "--", "python", "g.py")
    assert [t.gpus for t in made] == [0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0]


def test_a_key_is_of_the_content_and_of_the_machine(tmp_path):
    text = "entries: [{name: a, verb: bench, command: [python, s.py]}]\n"
    (tmp_path / "s.py").write_text("1")
    before = tasks(tmp_path, text)[0].key
    assert tasks(tmp_path, text.replace("name: a", "name: b"))[0].key == before
    assert tasks(tmp_path, "machines: [{kind: here, name: other}]\n" + text)[0].key != before
    (tmp_path / "s.py").write_text("2")
    assert tasks(tmp_path, text)[0].key != before


def test_a_plan_of_too_many_tasks_is_refused(tmp_path):
    many = ", ".join(str(n) for n in range(1, 900))
    with pytest.raises(AnywarpError, match="more than 10,000 tasks"):
        tasks(tmp_path, f"entries: [{{name: a, verb: bench, model: 'm:N', axes: {{a: [{many}], b: [{many}]}}}}]\n")


def test_a_first_plan_is_a_plan_and_is_what_its_schema_says(tmp_path, capsys):
    import jsonschema
    from ruamel.yaml import YAML

    from anywarp.cli.main import call

    first, schema = tmp_path / "first.yaml", tmp_path / "schema.json"
    assert call(["fleet", "plan", str(first), "--new"]) == call(["fleet", "plan", str(schema), "--schema"]) == 0
    assert call(["fleet", "plan", str(first), "--new"]) == 2  # what is there stays
    whole = "\n".join(
        re.sub(r"^(\s*)# (?=( *)(- (kind|name)|[a-z]+: ))", r"\1", line) for line in first.read_text().splitlines()[3:]
    )
    jsonschema.validate(YAML(typ="safe").load(whole), json.loads(schema.read_text()))
    capsys.readouterr()
    first.write_text(whole)
    assert call(["fleet", "plan", str(first), "--format", "json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert {task["verb"] for task in made} == {"bench", "verify", "assess"} and {task["machine"] for task in made} == {
        "here",
        "slurm",
        "kubernetes",
        "ray",
    }
