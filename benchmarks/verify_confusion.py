"""Which planted defects `anywarp verify` finds, where and under which name, and which legitimate variations it lets pass; writes docs/verify-confusion.md.

python benchmarks/verify_confusion.py > docs/verify-confusion.md
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from check.record import programs, recordings


def verified(kind, run, change, dtype, around=lambda run: run()):
    with tempfile.TemporaryDirectory() as folder:
        there = recordings.record(Path(folder) / "there", lambda: run(programs.build(kind, dtype)), precise=True)
        model = programs.build(kind, dtype)
        change(model)
        return recordings.replay(there, Path(folder) / "here", lambda: around(lambda: run(model)))


def main() -> None:
    print("# What verifying finds\n")
    print(
        "Made by `benchmarks/verify_confusion.py` from the programs of `tests/check/record/programs.py`: small models on the processor, recorded with `--precise`.\n"
    )
    print(
        "| planted defect | verdict | first place | place is right | cause | cause is right |\n| --- | --- | --- | --- | --- | --- |"
    )
    found = named = 0
    for each in programs.DEFECTS:
        with each.beneath():
            report = verified(each.model, each.run, each.change, each.dtype)
        place = report.first.name if report.first else ""
        cause = report.cause.name if report.cause else ""
        found += report.grade == "fail" and place in each.places
        named += cause in each.causes
        words = ["yes" if ok else "no" for ok in (place in each.places, cause in each.causes)]
        print(f"| {each.name} | {report.grade} | `{place}` | {words[0]} | {cause} | {words[1]} |")
    print("\n| legitimate variation | verdict |\n| --- | --- |")
    passed = 0
    for each in programs.VARIATIONS:
        report = verified(each.model, each.run, each.change, each.dtype, each.around)
        passed += report.grade == "pass"
        print(f"| {each.name} | {report.grade} |")
    print(
        f"\n{found} of {len(programs.DEFECTS)} defects are found in their place, {named} by their name; {passed} of {len(programs.VARIATIONS)} variations pass."
    )


if __name__ == "__main__":
    main()
