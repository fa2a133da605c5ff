"""`anywarp run --check`: names are understood, results decide the exit code. What is found lies in tests/checking."""

import json

import pytest
from click.testing import CliRunner

from anywarp.cli import run as verb
from anywarp.cli.main import call
from anywarp.runtime import launch

FOUND = (
    "process\t7\tprogram\nkernel\tscale\t3\t1\t0\t2.5\n"
    "finding\tmemory\tout%20of%20bounds\t12\tscale\tscale.cu\t7\t\t54\t(1,0,0)\t(36,0,0)\tstore\tglobal%20memory\t4096\t4\tstore\tbehind\n"
)
CLEAN = "process\t7\tprogram\nkernel\tscale\t3\t1\t0\t2.5\n"


@pytest.fixture
def program(monkeypatch):
    """Put a program in place of the command: what it writes to its report, and its exit code; returns what it was given."""
    seen = {}

    def start(report, status):
        def watch(command, env):
            seen["check"] = env.get("ANYWARP_CHECK")
            with open(f"{env['ANYWARP_REPORT_DIR']}/7-1.tsv", "w") as file:
                file.write(report)
            return status

        monkeypatch.setattr(
            launch, "environment", lambda device, base, folder, pure: {**base, "ANYWARP_REPORT_DIR": str(folder)}
        )
        monkeypatch.setattr(launch, "watch", watch)
        return seen

    return start


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--check", "memory"], "memory"),
        (["--check", "sync", "--check", "init"], "init,sync"),
        (["--check", "race, memory"], "memory,race"),
        (["--check", "all"], "init,memory,race,sync"),
    ],
)
def test_names_reach_the_program(program, options, names):
    seen = program(CLEAN, 0)
    assert CliRunner().invoke(verb.command, [*options, "--", "true"], standalone_mode=False).return_value == 0
    assert seen["check"] == names


@pytest.mark.parametrize(("report", "status", "expected"), [(CLEAN, 0, 0), (FOUND, 0, 1), (FOUND, 3, 3), (CLEAN, 4, 4)])
def test_findings_decide_the_exit_code_of_a_program_that_is_content(program, report, status, expected):
    program(report, status)
    done = CliRunner().invoke(verb.command, ["--check", "memory", "--", "true"], standalone_mode=False)
    assert done.return_value == expected
    assert ("12  out of bounds: scale, scale.cu:7" in done.output) == (report == FOUND)
    assert ("nothing found in 3 launches" in done.output) == (report == CLEAN)


def test_findings_are_written_as_json(program, tmp_path):
    program(FOUND, 0)
    place = tmp_path / "found.json"
    CliRunner().invoke(
        verb.command, ["--check", "memory", "--check-report", str(place), "--", "true"], standalone_mode=False
    )
    content = json.loads(place.read_text())
    assert content["checks"] == ["memory"] and content["command"] == ["true"]
    (finding,) = content["findings"]
    assert (finding["kind"], finding["count"], finding["line"], finding["thread"]) == (
        "out of bounds",
        12,
        7,
        "(36,0,0)",
    )
    assert finding["address"] == 4096 and finding["more"] == "behind"


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--check", "memory,speed"], "speed"), (["--check-report", "x.json"], "--check-report needs --check")],
)
def test_wrong_options_are_refused(options, words, capsys):
    assert call(["run", *options, "--", "true"]) == 2
    assert words in capsys.readouterr().err


def test_checks_on_a_gpu_are_refused_rather_than_left_out(capsys):
    assert call(["run", "--device", "hip", "--check", "memory", "--", "true"]) == 2
    assert "R028" in capsys.readouterr().err
