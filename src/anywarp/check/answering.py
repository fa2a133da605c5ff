"""The child of the self-test: asks one suite's questions of the driver in this process and writes each answer as a line of JSON.

`python -m anywarp.check.answering SUITE EVERY FIRST PART`; a line `asking` goes before each question, so that the parent knows which one
ended the process. With PART from 0 on, question FIRST is asked in its parts, from that one on.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from anywarp.check.machine import PTX_REFUSED, DriverError, Machine
from anywarp.check.suites import Question, questions

STICKY = frozenset({700, 702, 710, 714, 715, 716, 717, 718, 719, 999})
"""CUresult after which a context answers nothing else."""


def main(suite: str, every: int, first: int, part: int = -1, write: Any = sys.stdout) -> None:
    """Ask the questions from number `first` on."""
    machine = Machine()
    _tell(write, "device", name=machine.name, memory=machine.memory, cuda=machine.version)
    for index, question in enumerate(questions(suite, every)):
        if index == first and part >= 0:
            _parts(write, machine, question, index, part)
        elif index >= first:
            _tell(write, "asking", index=index, part=-1, name=question.name, count=question.count)
            _answer(write, machine, question, index)
    _tell(write, "end")


def _answer(write: Any, machine: Machine, question: Question, index: int) -> None:
    begun = time.perf_counter()
    outcome, text = _ask(machine, question)
    if outcome != "passed" and question.parts:
        _parts(write, machine, question, index, 0)
    else:
        _tell(write, "answer", answer=_as_json(question, outcome, text, begun))


def _parts(write: Any, machine: Machine, question: Question, index: int, first: int) -> None:
    for number, part in enumerate(question.parts):
        if number >= first:
            _tell(write, "asking", index=index, part=number, name=part.name, count=part.count)
            begun = time.perf_counter()
            _tell(write, "answer", answer=_as_json(part, *_ask(machine, part), begun))


def _ask(machine: Machine, question: Question) -> tuple[str, str]:
    try:
        complaints = question.ask(machine)
    except DriverError as error:
        if error.code in STICKY:
            raise  # the parent starts another process behind this question
        return ("refused" if error.code in PTX_REFUSED else "wrong"), str(error)
    except AssertionError as error:
        return "wrong", str(error)
    return ("wrong", "; ".join(complaints[:3])) if complaints else ("passed", "")


def _as_json(question: Question, outcome: str, text: str, begun: float) -> dict[str, Any]:
    return {
        "suite": question.suite,
        "name": question.name,
        "outcome": outcome,
        "text": text[:2000],
        "count": question.count,
        "seconds": round(time.perf_counter() - begun, 4),
    }


def _tell(write: Any, kind: str, **words: Any) -> None:
    write.write(json.dumps({"kind": kind, **words}) + "\n")
    write.flush()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
