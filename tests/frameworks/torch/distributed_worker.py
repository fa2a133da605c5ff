"""What every rank of a distributed test runs: the checks of some modules, each on its own, and what became of them as JSON.

Python's start and `import torch` take longer than all checks together, so they share one launch. A check that fails
on one rank would leave the other waiting; so its group is short of patience, and after a failure a new group is made.
"""

import importlib
import json
import sys
import traceback
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist

PATIENCE = timedelta(seconds=20)


def checks_of(names):
    """Return the functions of modules that are checks, by name, in their order."""
    modules = [importlib.import_module(name) for name in names]
    all_of_them = [item for module in modules for item in vars(module).items()]
    return {name[len("check_") :]: each for name, each in all_of_them if name.startswith("check_")}


def run(checks, rank, world, store):
    """Run the checks and return the words of each that failed, "" for the others."""
    torch.cuda.set_device(rank)
    torch.set_num_threads(1)
    results = {}
    attempt = 0
    named = {"rank": rank, "world_size": world, "timeout": PATIENCE, "device_id": torch.device("cuda", rank)}
    dist.init_process_group("nccl", store=dist.PrefixStore("0", store), **named)
    for name, check in checks.items():
        torch.manual_seed(0)
        print(f"rank {rank}: {name}", file=sys.stderr, flush=True)  # what is seen of a check that hangs
        try:
            check(rank, world)
            results[name] = ""
        except Exception:
            results[name] = traceback.format_exc()
            print(results[name], file=sys.stderr, flush=True)
        store.set(f"{name}/{rank}", "failed" if results[name] else "passed")
        others = [store.get(f"{name}/{other}") for other in range(world)]
        if b"failed" in others:
            attempt += 1
            dist.distributed_c10d._abort_process_group()
            dist.init_process_group("nccl", store=dist.PrefixStore(str(attempt), store), **named)
    dist.destroy_process_group()
    return results


def main(folder, *modules):
    """Run the checks of the modules as torchrun started us; write `folder`/RANK.json."""
    store, rank, world = next(dist.rendezvous("env://"))
    results = run(checks_of(modules), rank, world, dist.PrefixStore("checks", store))
    (Path(folder) / f"{rank}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(*sys.argv[1:])
