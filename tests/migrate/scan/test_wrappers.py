"""Programs that start another: assess and convert find the same program behind them."""

from __future__ import annotations

import pytest

from anywarp.deploy.convert import commands
from anywarp.deploy.convert.model import Change, Options
from anywarp.migrate.formats import shell_words, wrappers
from anywarp.migrate.scan import shell

BEHIND = [
    "nvidia-smi -q",
    "A=b nvidia-smi",
    "sudo nvidia-smi",
    "sudo -u USER nvidia-smi",
    "sudo -Eu USER A=b nvidia-smi",
    "sudo --user=USER -- nvidia-smi",
    "/usr/bin/sudo -n nvidia-smi",
    "doas -u root nvidia-smi",
    "runuser -u USER -- nvidia-smi",
    "watch -n 1 nvidia-smi",
    "watch -n1 -d nvidia-smi",
    "watch -dn 1 nvidia-smi",
    "timeout -k 5 10 nvidia-smi",
    "timeout --signal KILL 10s nvidia-smi",
    "nice -n 5 nvidia-smi",
    "nice -n5 ionice -c 3 nvidia-smi",
    "env -u LD_PRELOAD A=b nvidia-smi",
    "xargs -n 1 nvidia-smi -i",
    "xargs -0n 1 nvidia-smi -i",
    "stdbuf -oL nvidia-smi",
    "stdbuf -o L nvidia-smi",
    "chroot --userspec=0:0 /host nvidia-smi",
    "nsenter -t 1 -m nvidia-smi",
    "taskset -c 0-3 nvidia-smi",
    "numactl -N 0 --membind=0 nvidia-smi",
    "flock -w 5 /tmp/lock nvidia-smi",
    "/usr/bin/time -f %e nvidia-smi",
    "time -p nvidia-smi",
    "exec -a name nvidia-smi",
    "srun -N 1 --gres gpu:1 nvidia-smi",
    "mpirun -np 4 --hostfile hosts -x PATH --mca btl tcp nvidia-smi",
    "if ! nvidia-smi",
]


@pytest.mark.parametrize("text", BEHIND)
def test_the_program_behind_others_is_found_by_both(text: str) -> None:
    (command,) = shell_words.split(text)
    assert command.words[shell_words.program(command)] == "nvidia-smi"
    assert [one.name for one in shell.script(text) if one.subject == "command.nvidia-smi"] == ["nvidia-smi"]


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("sudo -u nvidia-smi id", "id"),
        ("env -u nvidia-smi id", "id"),
        ("timeout -s nvidia-smi 5 id", "id"),
        ("command -v nvidia-smi", "command"),
        ("command nvidia-smi", "nvidia-smi"),
        ("A=b", "A=b"),
        ("sudo", "sudo"),
        ("timeout 5", "5"),
        ("@nvidia-smi", "@nvidia-smi"),
        ("id nvidia-smi", "id"),
    ],
)
def test_values_of_options_are_no_programs(text: str, program: str) -> None:
    (command,) = shell_words.split(text)
    assert command.words[shell_words.program(command)] == program


def test_assignments_are_told_apart_from_values() -> None:
    assert wrappers.started("env -u A=b C=d nvidia-smi E=f".split()) == ([3], 4)


@pytest.mark.parametrize(
    "text", ['su - user -c "nvidia-smi -q"', 'sudo su -c "nvidia-smi -q" user', 'bash -lc "nvidia-smi -q"']
)
def test_scripts_handed_to_a_shell_of_another_user(text: str) -> None:
    assert "command.nvidia-smi" in [one.subject for one in shell.script(text)]


@pytest.mark.parametrize("text", ["watch -n 1 nvidia-smi", "sudo -u USER nvidia-smi", "timeout -k 5 10 nvidia-smi", "nice -n 5 nvidia-smi", "su - user -c 'nvidia-smi'"])  # fmt: skip
def test_convert_changes_the_program_behind_others(text: str) -> None:
    changed = [one for one in commands.commands(f"{text}\n".encode(), Options()) if isinstance(one, Change)]
    assert [text[one.start : one.end] for one in changed] == ["nvidia-smi"]
