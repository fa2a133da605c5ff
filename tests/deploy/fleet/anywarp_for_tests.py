"""Stands for `python -m anywarp` where verbs shall take no time: `fleet` is the real one; a verb writes one result, or does what its last word says."""

import json
import os
import signal
import sys
import time
from pathlib import Path


def main(words):
    if words[:2] == ["-m", "anywarp"]:
        words = words[2:]
    if words[0] == "fleet":
        from anywarp.cli.main import call

        return call(words)
    order, _, rest = words[-1].partition(" ")
    if order == "dump":
        Path(rest).write_text(json.dumps(words))
    elif order == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif order == "refuse":
        print("error[V036]: it may not be")
        return 2
    elif order == "once" and not Path(rest).exists():
        Path(rest).touch()
        return 2
    elif order == "count":
        with Path(rest).open("a") as file:
            file.write("1\n")
        time.sleep(0.3)
    elif order == "nothing":
        return 0
    from anywarp.check.store import Run, opened

    cell = {"p50": {"value": 1.0, "low": 0.9, "high": 1.1}}
    with opened() as store:
        store.add(
            Run(words[0], {"form": "command", "latency_ms": cell, "throughput": {"value": 2.0, "unit": "runs/s"}})
        )
    return 1 if order == "findings" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
