"""torch.distributed with backend "nccl" in two processes: what users start, by torchrun, by torch.multiprocessing and by hand."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

HERE = Path(__file__).parent
WORLD = 2
MODULES = (
    "distributed_checks_collectives",
    "distributed_checks_training",
    "distributed_checks_tensors",
    "distributed_checks_layers",
)


def names_of(module):
    """Return the names of a module's checks, read from its text, so that nothing of it runs here."""
    lines = (HERE / f"{module}.py").read_text(encoding="utf-8").splitlines()
    return [line[len("def check_") : line.index("(")] for line in lines if line.startswith("def check_")]


def torchrun(*arguments, env=None, timeout=150):
    """Start two processes by torchrun under `anywarp run`, as a user would; stdout, stderr and returncode."""
    start = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={WORLD}", "--standalone"]
    command = [sys.executable, "-m", "anywarp", "run", "--", *start, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What became of each check on each rank, and what was said meanwhile; all of them run once, together."""
    folder = tmp_path_factory.mktemp("checks")
    done = torchrun(HERE / "distributed_worker.py", folder, *MODULES)
    files = [folder / f"{rank}.json" for rank in range(WORLD)]
    return [json.loads(each.read_text()) if each.exists() else {} for each in files], done.stderr[-4000:]


@pytest.mark.parametrize("name", [name for module in MODULES for name in names_of(module)])
def test_check(results, name):
    ranks, stderr = results
    for rank, found in enumerate(ranks):
        assert name in found, f"rank {rank} did not come to its end\n{stderr}"
        assert not found[name], f"rank {rank}: {found[name]}"


SPAWNED = """
import os, sys, torch, torch.distributed as dist, torch.multiprocessing as mp
def worker(rank, world, file):
    dist.init_process_group("nccl", init_method="file://" + file, rank=rank, world_size=world,
                            device_id=torch.device("cuda", rank))
    torch.cuda.set_device(rank)
    x = torch.full((3,), rank + 1.0, device="cuda")
    dist.all_reduce(x)
    assert x.tolist() == [3.0] * 3 and x.device.index == rank
    dist.destroy_process_group()
    os.write(1, f"rank {rank} done\\n".encode())  # one write: print makes several where output is unbuffered
if __name__ == "__main__":
    mp.spawn(worker, (torch.cuda.device_count(), sys.argv[1]), nprocs=torch.cuda.device_count())
"""


def test_processes_spawned_by_the_program(tmp_path, under_anywarp):
    script = tmp_path / "spawned.py"
    script.write_text(SPAWNED)
    done = under_anywarp(script, tmp_path / "rendezvous", env={"ANYWARP_DEVICES": "2"})
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["rank 0 done", "rank 1 done"]


COUNT = """
import ctypes
driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
assert driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
print(count.value)
"""


@pytest.mark.parametrize(
    ("env", "number"),
    [
        ({}, 1),
        ({"LOCAL_WORLD_SIZE": "3"}, 3),
        ({"LOCAL_WORLD_SIZE": "nonsense"}, 1),
        ({"LOCAL_WORLD_SIZE": "3", "ANYWARP_DEVICES": "2"}, 2),
        ({"LOCAL_WORLD_SIZE": "3", "CUDA_VISIBLE_DEVICES": "1"}, 1),
    ],
)
def test_one_device_for_each_local_process(under_anywarp, env, number):
    assert under_anywarp("-c", COUNT, env=env).stdout.split() == [str(number)]


def test_a_world_of_one_needs_no_launcher(under_anywarp):
    code = """
import torch, torch.distributed as dist
dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
x = torch.ones(2, device="cuda")
dist.all_reduce(x); dist.barrier()
print(x.tolist(), dist.get_backend())
"""  # and no destroy_process_group: the process ends all the same
    done = under_anywarp("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[1.0, 1.0] nccl"


def test_nccl_is_there_where_torch_asks():
    import torch
    import torch.distributed as dist

    assert dist.is_nccl_available() and dist.is_backend_available("nccl")
    assert dist.ProcessGroupNCCL.__module__ == "torch.distributed.distributed_c10d"
    assert "ProcessGroupNCCL" in dist.distributed_c10d.__all__
    assert torch.cuda.nccl.version()[0] == 2
    assert torch.cuda.nccl.is_available([torch.ones(2, device="cuda")])
    assert not torch.cuda.nccl.is_available([torch.ones(2)])
    assert len(torch.cuda.nccl.unique_id()) == 128


def test_every_check_has_a_name_of_its_own():
    names = [name for module in MODULES for name in names_of(module)]
    assert len(names) == len(set(names)) > 40
