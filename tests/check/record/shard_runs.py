"""Records the model of sharded_model.py in several ways, from one interpreter that forks: torch is imported once.

shard_runs.py FOLDER NAME=HOW[+DEFECT][@REFERENCE] ...     one recording below FOLDER for each; with a REFERENCE, what `anywarp verify` has its program do
"""

import os
import sys
import time
from pathlib import Path

import torch

from anywarp.check.bundle import open_bundle
from anywarp.check.record import running
from anywarp.check.record.plan import Plan
from anywarp.check.record.session import Session
from anywarp.check.record.torch import calls
from anywarp.check.replay import running as replaying
from check.record import sharded_model

PATIENCE = 60


def plan(folder: Path, reference: str) -> Plan:
    if not reference:
        return Plan(str(folder))
    with open_bundle(folder.parent / reference) as bundle:
        return replaying.plan(bundle, folder, (), replaying.Options())


def rank(number: int, how: str, defect: str, chosen: Plan) -> None:
    from anywarp.check.replay.torch.again import Again

    session = Session(chosen)
    calls.install((Again if chosen.reference else calls.Recorder)(session))
    sharded_model.work(number, f"{chosen.output}.meeting", how, defect)
    session.finish()


def forked(number: int, how: str, defect: str, chosen: Plan) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        rank(number, how, defect, chosen)
        status = 0
    except BaseException as error:
        print(f"rank {number}: {error!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def wait(children: list[int]) -> None:
    end = time.monotonic() + PATIENCE
    while children:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child:
            children.remove(child)
        if (child and status) or time.monotonic() > end:
            for each in children:
                os.kill(each, 9)
            raise SystemExit(
                f"a rank ended with status {status}" if child else f"ranks had not ended after {PATIENCE} seconds"
            )
        time.sleep(0.01)


if __name__ == "__main__":
    torch.set_num_threads(1)
    import torch.distributed.fsdp
    import torch.distributed.tensor.parallel

    root = Path(sys.argv[1]).absolute()
    for word in sys.argv[2:]:
        name, _, what = word.partition("=")
        what, _, reference = what.partition("@")
        how, _, defect = what.partition("+")
        folder = root / name
        folder.mkdir(mode=0o700)
        chosen = plan(folder, reference)
        wait([forked(number, how, defect, chosen) for number in range(sharded_model.ranks(how))])
        assert running.finished(folder) is not None
