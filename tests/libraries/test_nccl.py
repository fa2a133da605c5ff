"""NCCL on the processor: ranks in processes, in one process, and over sockets; each process checks what it receives (nccl_rank.py)."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from libraries import nccl_rank

pytestmark = pytest.mark.native

FILE = Path(nccl_rank.__file__)


@pytest.fixture(scope="module")
def nccl(library):
    return library("nccl", "libnccl.so.2")


def run_ranks(nccl, scenarios, count, missing=(), **environment):
    identities = ",".join(nccl_rank.unique_id(nccl).hex() for _ in scenarios)
    command = [sys.executable, FILE, ",".join(scenarios)]
    running = [
        subprocess.Popen(
            [*command, str(rank), str(count), identities],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        for rank in range(count)
    ]
    try:
        for rank, process in enumerate(running):
            out, error = process.communicate(timeout=120)
            if rank in missing:
                assert process.returncode == -9
            else:
                assert process.returncode == 0 and out == "fine\n", f"rank {rank}: {error[-3000:]}"
    finally:
        for process in running:
            process.kill()
            process.communicate()


@pytest.mark.parametrize("count", [2, 4])
def test_ranks_in_processes(nccl, count):
    run_ranks(nccl, ["collectives", "lengths", "pairs", "streams", "operators", "split", "later"], count)


def test_ranks_that_do_not_read_each_other_s_memory(nccl):
    run_ranks(nccl, ["lengths", "pairs", "streams"], 2, NCCL_P2P_DISABLE="1")


def test_ranks_over_sockets(nccl):
    run_ranks(nccl, ["lengths", "pairs", "streams", "split"], 3, NCCL_SHM_DISABLE="1", NCCL_SOCKET_IFNAME="lo")


@pytest.mark.parametrize("sockets", ["0", "1"])
def test_communicators_out_of_others(nccl, sockets):
    scenarios = ["shrink", "hung", "revoked", "grow", "suspended", "windows"]
    run_ranks(nccl, scenarios, 3, NCCL_SHM_DISABLE=sockets, NCCL_SOCKET_IFNAME="lo")


@pytest.mark.parametrize("scenario", ["killed", "idle"])
@pytest.mark.parametrize("sockets", ["0", "1"])
def test_a_rank_that_dies_is_an_error_of_the_others(nccl, scenario, sockets):
    run_ranks(nccl, [scenario], 3, missing={2}, NCCL_SHM_DISABLE=sockets)


@pytest.mark.parametrize("scenario", ["aborted", "different", "wild", "wild_in_a_graph"])
def test_errors(nccl, scenario):
    run_ranks(nccl, [scenario], 2)


def test_an_address_of_the_program_instead_of_an_id(nccl, monkeypatch):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("NCCL_COMM_ID", f"127.0.0.1:{port}")
    run_ranks(nccl, ["later", "later"], 2)


HALF_A_RANK = """
import socket, struct, sys, os, time
identity = bytes.fromhex(sys.argv[1])
port, host = struct.unpack_from(">H4s", identity, 8 + 16 + 4 + 2)
with socket.create_connection((socket.inet_ntoa(host), port)) as root:
    root.sendall(identity[:24] + struct.pack("<II", 1, 3))  # says who it is, and ends
    time.sleep(0.5)
"""


def test_a_rank_that_ends_before_all_have_met(nccl):
    identity = nccl_rank.unique_id(nccl)
    subprocess.run([sys.executable, "-c", HALF_A_RANK, identity.hex()], check=True, timeout=30)
    time.sleep(0.3)  # the root has seen it
    with pytest.raises(AssertionError, match=r"6|2"):  # ncclRemoteError, or a root that is no more
        nccl_rank.Rank(nccl, 0, 1, identity)
    identity = nccl_rank.unique_id(nccl)
    other = subprocess.Popen([sys.executable, "-c", HALF_A_RANK, identity.hex()])
    began = time.monotonic()
    with pytest.raises(AssertionError, match="6"):
        nccl_rank.Rank(nccl, 0, 3, identity)
    assert time.monotonic() - began < 10
    other.wait()


def test_nothing_is_left_in_shared_memory(nccl):
    before = set(os.listdir("/dev/shm"))
    run_ranks(nccl, ["killed"], 2, missing={1})
    assert not [name for name in set(os.listdir("/dev/shm")) - before if "nccl" in name]


ALL_DEVICES = """
import ctypes, sys
import numpy as np
from libraries.loading import Library
nccl = Library("nccl", "libnccl.so.2")
comms = (ctypes.c_void_p * 2)()
nccl("ncclCommInitAll", comms, 2, None)
device = ctypes.c_int()
for rank in range(2):
    nccl("ncclCommCuDevice", comms[rank], device)
    assert device.value == rank
for count in (1, 100003, 1200003):
    parts = [np.random.default_rng(rank).random(count, np.float32) for rank in range(2)]
    got = [np.zeros(count, np.float32) for _ in range(2)]
    gathered = [np.zeros(2 * count, np.float32) for _ in range(2)]
    nccl("ncclGroupStart")
    for rank in range(2):
        nccl("ncclAllReduce", parts[rank], got[rank], count, 7, 0, comms[rank], None)
    nccl("ncclGroupEnd")
    for rank in range(2):  # no call waits for the other device
        nccl("ncclAllGather", parts[rank], gathered[rank], count, 7, comms[rank], None)
    for rank in range(2):
        context = ctypes.c_void_p()
        assert nccl._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), rank) == 0
        assert nccl._cuda.cuCtxSetCurrent(context) == 0
        assert nccl._cuda.cuCtxSynchronize() == 0
        assert (got[rank] == parts[0] + parts[1]).all()
        assert (gathered[rank] == np.concatenate(parts)).all()
children = (ctypes.c_void_p * 2)()
nccl("ncclGroupStart")
for rank in range(2):
    nccl("ncclCommSplit", comms[rank], 0, -rank, ctypes.c_void_p.from_buffer(children, 8 * rank), None)
nccl("ncclGroupEnd")
rank = ctypes.c_int()
nccl("ncclCommUserRank", children[0], rank)
assert rank.value == 1
again = (ctypes.c_int * 2)(0, 0)
assert nccl.status("ncclCommInitAll", comms, 2, again) == 5
print("fine")
"""


def test_two_devices_of_one_process(nccl):
    environment = {**os.environ, "ANYWARP_DEVICES": "2", "PYTHONPATH": str(FILE.parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", ALL_DEVICES], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.stdout == "fine\n", done.stderr[-3000:]


def test_arguments(nccl):
    me = nccl_rank.Rank(nccl, 0, 1, nccl_rank.unique_id(nccl))
    value = np.arange(4, dtype=np.float32)
    got = np.zeros(4, np.float32)
    me.call("ncclAllReduce", value, got, 4, 7, 4)
    assert me.done() == 0
    assert (got == value).all()
    invalid, usage = 4, 5
    assert nccl.status("ncclAllReduce", value, got, 4, 12, 0, me.comm, None) == invalid
    assert nccl.status("ncclAllReduce", value, got, 4, 7, 5, me.comm, None) == invalid
    assert nccl.status("ncclAllReduce", value, got, 4, 7, 0, 0x1234, None) == invalid
    assert nccl.status("ncclReduce", value, got, 4, 7, 0, 1, me.comm, None) == invalid
    assert nccl.status("ncclBroadcast", value, got, 4, 7, -1, me.comm, None) == invalid
    assert nccl.status("ncclSend", value, 4, 7, 0, me.comm, None) == usage  # nobody receives it
    assert b"receive" in nccl._bound("ncclGetLastError")(None)
    assert nccl.status("ncclGroupEnd") == usage
    nccl("ncclGroupStart")
    assert nccl.status("ncclAllReduce", value, got, 4, 12, 0, me.comm, None) == invalid
    assert nccl.status("ncclGroupEnd") == invalid
    assert nccl.status("ncclCommCount", me.comm, None) == invalid
    assert nccl.status("ncclDevCommCreate", me.comm, None, None) == usage  # refused by name
    handle = ctypes.c_void_p()
    nccl("ncclCommRegister", me.comm, value, 16, handle)
    nccl("ncclCommDeregister", me.comm, handle.value)
    nccl("ncclCommFinalize", me.comm)
    nccl("ncclCommDestroy", me.comm)
    assert nccl.status("ncclCommDestroy", me.comm) == invalid
    version = ctypes.c_int()
    nccl("pncclGetVersion", version)
    assert version.value == 23203
    assert nccl._bound("ncclGetErrorString")(6)
    place = nccl.out("ncclMemAlloc", 100)
    assert place
    nccl("ncclMemFree", place)


def test_a_wrong_id_is_refused(nccl):
    with pytest.raises(AssertionError, match="4"):
        nccl_rank.Rank(nccl, 0, 1, bytes(128))
