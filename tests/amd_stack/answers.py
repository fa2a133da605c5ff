"""Ask the real HIP what tests/native/hip/contract.py asks, and write its answers beside it: python tests/amd_stack/answers.py CODE_OBJECT [CASE...]

CODE_OBJECT has contract.KERNEL for gfx942. Read what changed before it is committed: an answer may be the emulator's mistake.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from amd_stack import stack
from native.hip import contract

PROGRAM = Path(contract.__file__)
PLACE = PROGRAM.with_name("contract_answers.json")


def asked(name: str, code: str) -> dict[str, object] | None:
    """Return the answers of one case; None where there were none, which it says."""
    cards = 2 if name in contract.TWO_DEVICES else 1
    try:
        done = stack.run(
            [sys.executable, PROGRAM, name], cards=cards, limit=120, HIP_LIBRARY="libamdhip64.so.6", CODE=code
        )
    except subprocess.TimeoutExpired:
        print(f"{name}: more than two minutes", flush=True)
        return None
    if done.returncode:
        print(f"{name}: {done.stderr[-600:]}", flush=True)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def main(code: str, names: list[str]) -> None:
    """Ask all cases, or these, and say which answers changed."""
    answers = json.loads(PLACE.read_text()) if PLACE.exists() else {}
    for name in names or contract.CASES:
        found = asked(name, code)
        before = answers.get(name, {})
        for question in found or {}:
            if before.get(question) != found[question]:
                print(f"{name}, {question}: {before.get(question)} -> {found[question]}", flush=True)
        if found is not None:
            answers[name] = found
    PLACE.write_text(
        "{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(each)}" for name, each in answers.items()) + "\n}\n"
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
