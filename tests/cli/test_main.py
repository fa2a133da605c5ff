"""The command line as a whole: its verbs, its exit codes, its pages, and how quickly it starts."""

import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.cli.main import VERBS, call

REPOSITORY = Path(__file__).resolve().parents[2]


def anywarp(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "anywarp", *arguments], capture_output=True, text=True, timeout=60, **options
    )


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_a_page(verb, capsys):
    assert call([verb, "--help"]) == 0
    assert f"anywarp {verb}" in capsys.readouterr().out
    page = (REPOSITORY / "docs" / "cli" / f"{verb}.md").read_text()
    assert page.startswith(f"# anywarp {verb}\n")


def test_help_lists_every_verb():
    done = anywarp("--help")
    assert done.returncode == 0
    assert all(f"  {verb} " in done.stdout for verb in VERBS)


def test_the_module_and_the_script_are_the_same_command():
    script = Path(sys.executable).with_name("anywarp")
    if not script.exists():
        pytest.skip("anywarp is not installed in this interpreter")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout == anywarp("--version").stdout != ""


@pytest.mark.parametrize("arguments", [["dance"], ["run"], ["run", "--dance", "true"], ["explain", "--format", "tree"]])
def test_wrong_usage_is_2_without_a_traceback(arguments):
    done = anywarp(*arguments)
    assert done.returncode == 2 and "Traceback" not in done.stderr and done.stdout == ""


def test_a_setting_that_cannot_be_read_is_named():
    done = anywarp("cache", "info", env={"ANYWARP_CACHE_LIMIT": "much", "HOME": "/", "PATH": "/usr/bin:/bin"})
    assert done.returncode == 2
    assert "error[S001]" in done.stderr and "ANYWARP_CACHE_LIMIT" in done.stderr


def test_a_reader_that_leaves_is_no_failure_of_ours():
    command = f"({sys.executable} -m anywarp explain; echo ended >&2) | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stderr == "ended\n"


HELP = "from anywarp.cli.main import call; call([%r, '--help'])"


@pytest.mark.parametrize(
    ("start", "heavy"),
    [
        (HELP % "run", ("rich", "numpy", "llvmlite", "asyncio", "zstandard")),
        (HELP % "assess", ("rich", "jinja2", "numpy", "llvmlite", "asyncio")),
        ("from anywarp.migrate import scan; scan.doors()", ("click", "numpy", "llvmlite", "jinja2", "asyncio")),
    ],
    ids=["run", "assess", "a process of assess"],
)
def test_starting_imports_nothing_heavy(start, heavy):
    script = f"import sys; {start}\nprint([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stderr == "[]\n"
