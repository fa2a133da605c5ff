"""Counting devices does not use CUDA: a program may fork after it, as on a machine where NVML tells the number."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch

PROGRAM = """
import os, torch
print(torch.cuda.device_count(), torch.cuda.is_initialized(), flush=True)
child = os.fork()
if child == 0:
    print(torch.ones(3, device="cuda:0").sum().item(), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1], flush=True)
print(torch.cuda.device_count() == len([torch.zeros(1, device=f"cuda:{each}") for each in range(torch.cuda.device_count())]))
"""


@pytest.mark.parametrize(
    ("devices", "visible", "count"),
    [pytest.param("1", None, 1, marks=pytest.mark.long), ("3", None, 3), ("3", "2,0", 2), ("2", "", 0)],
)
def test_the_number_is_the_driver_s(under_anywarp, devices: str, visible: str | None, count: int) -> None:
    env = {"ANYWARP_DEVICES": devices} | ({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible})
    asked = "import torch; print(torch.cuda.device_count(), torch._C._cuda_getDeviceCount())"
    done = under_anywarp("-c", asked, env=env)
    assert done.stdout.split() == [str(count)] * 2, done.stderr


@pytest.mark.parametrize(
    ("processes", "count"), [pytest.param("2", 2, marks=pytest.mark.long), ("900", 64), ("many", 1)]
)
def test_a_process_of_torchrun_sees_a_device_for_each(under_anywarp, processes: str, count: int) -> None:
    asked = "import torch; print(torch.cuda.device_count(), torch._C._cuda_getDeviceCount())"
    done = under_anywarp("-c", asked, env={"LOCAL_WORLD_SIZE": processes})
    assert done.stdout.split() == [str(count)] * 2, done.stderr


def test_a_program_that_counted_may_fork(under_anywarp) -> None:
    done = under_anywarp("-c", PROGRAM, env={"ANYWARP_DEVICES": "2"})
    assert done.stdout.split() == ["2", "False", "3.0", "0", "True"], done.stderr
