"""Results of measuring and comparing, kept: one SQLite database of runs, to which every number that is shown can be traced.

`Run` is one result with what was run, where and how; `Store` keeps runs. Whoever makes a result (bench, verify, cost, rollout) adds a run:

    with opened() as store:
        identity = store.add(Run(kind="bench", device="cpu", model="net.py:Net", result={...}))
"""

from anywarp.check.store.database import Store, opened
from anywarp.check.store.reading import read
from anywarp.check.store.run import KINDS, Run, here

__all__ = ["KINDS", "Run", "Store", "here", "opened", "read"]
