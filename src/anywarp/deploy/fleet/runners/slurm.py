"""Tasks of a cluster with Slurm: a job array whose script says nothing but which batch it is for.

The script is a file that we write: the words that start anywarp and the batch's file, quoted for the shell; which task is meant comes from
Slurm in SLURM_ARRAY_TASK_ID. Nothing of a task's command line is in it. Options of the user's are arguments of sbatch, never text of the script.
Formats: man sbatch (--parsable, --array), man squeue (-r, %K, %T), man sacct (-P), of Slurm 22.05 and later.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING

from anywarp.deploy.fleet.execution import own_words
from anywarp.deploy.fleet.problems import RUNNER, problem
from anywarp.deploy.fleet.runners.runner import Seen, State

if TYPE_CHECKING:
    from anywarp.deploy.fleet.folder import Batch, Folder
    from anywarp.deploy.fleet.plan import Slurm

_WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD", "CONFIGURING"})  # fmt: skip
_RUNNING = frozenset({"RUNNING", "COMPLETING", "STAGE_OUT", "SIGNALING", "SUSPENDED", "STOPPED", "RESIZING"})
_GONE = re.compile(r"invalid job id|unknown|no job", re.IGNORECASE)


class SlurmRunner:
    """Submits arrays by sbatch, and asks squeue, then sacct, what became of them."""

    settle = 20.0

    def __init__(self, machine: Slurm, folder: Folder) -> None:
        self._machine, self._folder = machine, folder

    def submit(self, batch: Batch) -> str:
        """Write the script and submit the array; return the job's number."""
        script = self._folder.batch_place(batch.id).with_suffix(".sh")
        script.write_text(self.script(batch), encoding="utf-8")
        gpus = max(task.gpus for task in batch.tasks)
        said = _ask(
            "sbatch",
            "--parsable",
            f"--job-name={_name(batch)}",
            f"--array=0-{len(batch.tasks) - 1}%{self._machine.at_once}",
            "--output=/dev/null",
            "--error=/dev/null",
            *[f"--gres=gpu:{gpus}"] * bool(gpus),
            *self._machine.options,
            str(script),
        )
        number = said.strip().partition(";")[0]
        if not number.isdecimal():
            raise problem(RUNNER, f"sbatch answers no number of a job: {said[:200]!r}", "is it Slurm's?")
        return number

    def script(self, batch: Batch) -> str:
        """Return the script of an array."""
        words = [*(self._machine.anywarp or own_words()), "fleet", "task", str(self._folder.batch_place(batch.id))]
        return f'#!/bin/sh\nexec {shlex.join(words)} "$SLURM_ARRAY_TASK_ID"\n'

    def find(self, batch: Batch) -> str | None:
        """Return the number of the job that has the batch's name."""
        said = _ask("squeue", "-h", "-t", "all", f"--name={_name(batch)}", "-o", "%F")
        return next((line for line in said.split() if line.isdecimal()), None)

    def look(self, batch: Batch, ticket: str) -> Mapping[int, Seen]:
        """Return where each element of the array is: what squeue no longer knows has ended."""
        try:
            known = _states(_ask("squeue", "-h", "-r", "-t", "all", "-j", ticket, "-o", "%K|%T"))
        except _Gone:
            known = {}
        ended = {
            number for number in range(len(batch.tasks)) if number not in known or _state(known[number]) == "ended"
        }
        reasons = self._reasons(ticket) if ended and any(not self._told(batch, n) for n in ended) else {}
        return {
            n: Seen("ended", f"Slurm says {reasons.get(n) or known.get(n) or 'no more of it'}")
            if n in ended
            else Seen(_state(known[n]))
            for n in range(len(batch.tasks))
        }

    def _told(self, batch: Batch, number: int) -> bool:
        """Tell whether a task has said itself what became of it."""
        key = batch.tasks[number].key
        return self._folder.failed_in(key, batch.id) or (self._folder.place / "results" / f"{key}.json").exists()

    def _reasons(self, ticket: str) -> dict[int, str]:
        """Return what Slurm's accounting says of how elements ended; nothing where the cluster keeps none."""
        try:
            said = _ask("sacct", "-n", "-P", "-X", "-j", ticket, "--format=JobID,State,ExitCode")
        except (_Gone, _Refused):
            return {}
        found: dict[int, str] = {}
        for line in said.splitlines():
            job, _, rest = line.partition("|")
            state, _, code = rest.partition("|")
            if job.rpartition("_")[2].isdecimal():
                found[int(job.rpartition("_")[2])] = f"{state}, exit code {code}"
        return found

    def close(self) -> None:
        """Leave the jobs: they go on without us."""


class _Gone(Exception):
    """Slurm no longer knows a job."""


class _Refused(Exception):
    """Slurm keeps no accounts."""


def _name(batch: Batch) -> str:
    return f"anywarp-fleet-{batch.id}"


def _states(said: str) -> dict[int, str]:
    found: dict[int, str] = {}
    for line in said.splitlines():
        number, _, state = line.strip().partition("|")
        if number.isdecimal():
            found[int(number)] = state
    return found


def _state(word: str) -> State:
    return "waiting" if word in _WAITING else "running" if word in _RUNNING else "ended"


def _ask(program: str, *words: str) -> str:
    """Return what a program of Slurm's prints; AnywarpError (Y144)."""
    found = shutil.which(program)
    if found is None:
        raise problem(RUNNER, f"there is no {program} on this machine", "run it where jobs are submitted, or choose another kind of machine")  # fmt: skip
    try:
        done = subprocess.run(
            [found, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60
        )
    except subprocess.TimeoutExpired:
        raise problem(RUNNER, f"{program} has not answered for 60 s", "see `scontrol ping`") from None
    if done.returncode:
        told = " ".join(done.stderr.split())[:500]
        if program == "squeue" and _GONE.search(told):
            raise _Gone
        if program == "sacct":
            raise _Refused
        raise problem(
            RUNNER, f"{program} refuses: {told}", "see `scontrol ping`, and the options of this machine in the plan"
        )
    return done.stdout
