"""The pre-commit hook, the GitHub Action and the snippets of docs/ci-integration.md do what they say."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from anywarp.cli import main
from anywarp.cli.assess import command

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
OPTIONS = {name for parameter in command.params for name in parameter.opts}

FAKE = """#!/bin/bash
printf '%s\\n' "$@" '' >>"$SEEN"
while [ $# -gt 0 ]; do case "$1" in -o|--html) [ -n "${NOTHING:-}" ] || echo report >"$2"; shift ;; esac; shift; done
echo 'anywarp assess: words'
exit "${STATUS:-0}"
"""


def step(name):
    (found,) = [s for s in ACTION["runs"]["steps"] if s["name"] == name]
    return found


def run_step(tmp_path, name, environment):
    """Run a step's script as GitHub's runner does, with an `anywarp` and a `python3` that write down their arguments."""
    fakes = tmp_path / "bin"
    fakes.mkdir(exist_ok=True)
    for program in ("anywarp", "python3"):
        (fakes / program).write_text(FAKE)
        (fakes / program).chmod(0o755)
    script = tmp_path / "step.sh"
    script.write_text(step(name)["run"])
    place = {
        "PATH": f"{fakes}:{os.environ['PATH']}", "SEEN": str(tmp_path / "seen"), "RUNNER_TEMP": str(tmp_path / "temp dir"),
        "GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
        env=place | environment,
        capture_output=True,
        check=False,
    )
    seen = tmp_path / "seen"
    calls = [call.split("\n") for call in seen.read_text().split("\n\n") if call] if seen.exists() else []
    return done.returncode, calls


INPUTS = {
    "PATHS": ".",
    "TARGET": "hip:gfx942",
    "ROCM": "7.1",
    "FAIL_ON": "no-path replace",
    "BASELINE": "",
    "EXCLUDE": "",
}


def test_the_action_passes_its_inputs_on(tmp_path):
    more = INPUTS | {"PATHS": "src 'a b'\ndeploy", "BASELINE": "b.json", "EXCLUDE": "third party/\n*.md\n"}
    code, calls = run_step(tmp_path, "Assess", more)
    assert code == 0 and len(calls) == 2
    out = str(tmp_path / "temp dir" / "anywarp-assess")
    options = ["--target", "hip:gfx942", "--rocm", "7.1", "--baseline", "b.json", "--fail-on", "no-path", "--fail-on", "replace",
               "--exclude", "third party/", "--exclude", "*.md"]  # fmt: skip
    paths = ["--", "src", "a b", "deploy"]
    reports = ["--format", "sarif", "-o", f"{out}/assess.sarif", "--html", f"{out}/assess.html"]
    assert calls == [["assess", *options, *reports, *paths], ["assess", *options, *paths]]
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert outputs == {"sarif": f"{out}/assess.sarif", "html": f"{out}/assess.html", "status": "0"}
    assert "anywarp assess: words" in (tmp_path / "summary").read_text()


@pytest.mark.parametrize(
    ("status", "assessed", "decided"), [("0", 0, 0), ("1", 0, 1), ("2", 0, 2), ("2 nothing", 2, None)]
)
def test_the_action_uploads_before_it_fails(tmp_path, status, assessed, decided):
    status, _, nothing = status.partition(" ")
    more = {"STATUS": status, "NOTHING": nothing, "ROCM": "", "FAIL_ON": ""}
    code, _ = run_step(tmp_path, "Assess", INPUTS | more)
    assert code == assessed
    if decided is not None:
        assert run_step(tmp_path, "Decide", {"STATUS": status})[0] == decided


def test_the_action_installs_what_is_asked_for(tmp_path):
    assert run_step(tmp_path, "Install", {"VERSION": "anywarp==0.1.0"}) == (
        0, [["-m", "pip", "install", "--quiet", "anywarp==0.1.0"]],
    )  # fmt: skip


def test_inputs_reach_scripts_through_the_environment_alone():
    """An expression inside a script would let the name of a branch run commands."""
    for one in ACTION["runs"]["steps"]:
        assert "${{" not in one.get("run", "")
        for value in one.get("env", {}).values():
            name = re.fullmatch(r"\$\{\{ (inputs|steps\.assess\.outputs)\.([\w-]+) \}\}", value)
            assert name and (name[1] != "inputs" or name[2] in ACTION["inputs"])
    used = set(re.findall(r"--[a-z-]+", step("Assess")["run"])) - {"--"}
    assert used <= OPTIONS


def test_the_hook_runs_on_the_files_it_is_given(tmp_path, capsys, monkeypatch):
    hook, same = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [one["id"] for one in (hook, same)] == ["anywarp-assess", "anywarp-assess-system"]
    assert {key: hook[key] for key in ("entry", "args", "types")} == {
        key: same[key] for key in ("entry", "args", "types")
    }
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.cu").write_text("int main() { cudaFree(0); }\n")
    (tmp_path / "bad one.cu").write_text("void f() { cudaGraphConditionalHandleCreate(0, 0, 0, 0); }\n")
    program, *words = [*hook["entry"].split(), *hook["args"], "--target", "hip:gfx942", "--rocm", "7.1"]
    assert program == "anywarp" and (hook["language"], same["language"]) == ("python", "system")
    assert main.call([*words, "good.cu"]) == 0
    assert main.call([*words, "good.cu", "bad one.cu"]) == 1
    assert "no path yet" in capsys.readouterr().err


def test_the_snippets_of_the_page_are_valid_and_name_what_exists():
    text = (ROOT / "docs" / "ci-integration.md").read_text()
    snippets = [yaml.safe_load(part) for part in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    assert len(snippets) == 3
    assert snippets[0]["repos"][0]["hooks"][0]["id"] == "anywarp-assess"
    assert set(snippets[1]["jobs"]["cuda"]["steps"][2]["with"]) <= set(ACTION["inputs"])
    for used in re.findall(r"anywarp assess .*?(?=\n\n|\n  artifacts)", text, re.DOTALL):
        assert {word for word in used.split() if word.startswith("--")} <= OPTIONS
