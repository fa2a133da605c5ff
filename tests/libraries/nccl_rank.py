"""One rank of a communicator in a process of its own: `nccl_rank.py SCENARIO RANK COUNT ID` prints "fine" when everything was as it should be.

Every rank knows what all ranks send (the random numbers of `data` depend on names alone) and computes what it must receive.
"""

import ctypes
import os
import signal
import sys
import time
from functools import reduce
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from libraries.loading import Library

TYPES = {
    "i1": (0, np.int8), "u1": (1, np.uint8), "i4": (2, np.int32), "u4": (3, np.uint32), "i8": (4, np.int64), "u8": (5, np.uint64),
    "f2": (6, np.float16), "f4": (7, np.float32), "f8": (8, np.float64), "bf2": (9, np.uint16), "e4m3": (10, np.uint8), "e5m2": (11, np.uint8),
}  # fmt: skip
SUM, PROD, MAX, MIN, AVG = range(5)
REMOTE, IN_PROGRESS = 6, 7


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


class Config(ctypes.Structure):
    """The beginning of ncclConfig_t."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("magic", ctypes.c_uint),
        ("version", ctypes.c_uint),
        ("blocking", ctypes.c_int),
    ]


def non_blocking():
    return Config(ctypes.sizeof(Config), 0xCAFEBEEF, 23203, 0)


def unique_id(nccl) -> bytes:
    made = UniqueId()
    nccl("ncclGetUniqueId", made)
    return bytes(made)


# Values of all types as numbers of binary64, by the formats' definitions.


def _narrow_table(exponent_bits, fraction_bits, bias, finite_only):
    values = np.empty(256)
    for bits in range(256):
        exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
        fraction = bits & (1 << fraction_bits) - 1
        sign = -1.0 if bits & 0x80 else 1.0
        if exponent == (1 << exponent_bits) - 1 and not finite_only:
            values[bits] = sign * np.inf if fraction == 0 else np.nan
        elif bits & 0x7F == 0x7F and finite_only:
            values[bits] = np.nan
        elif exponent == 0:
            values[bits] = sign * fraction * 2.0 ** (1 - bias - fraction_bits)
        else:
            values[bits] = sign * (1 + fraction / 2**fraction_bits) * 2.0 ** (exponent - bias)
    return values


TABLES = {"e4m3": _narrow_table(4, 3, 7, True), "e5m2": _narrow_table(5, 2, 15, False)}
EPSILON = {"f2": 2.0**-11, "f4": 2.0**-24, "f8": 2.0**-53, "bf2": 2.0**-8, "e4m3": 2.0**-4, "e5m2": 2.0**-3}
TINY = {"f2": 2.0**-25, "bf2": 0, "e4m3": 2.0**-10, "e5m2": 2.0**-17, "f4": 0, "f8": 0}


def wide(values, kind):
    if kind in TABLES:
        return TABLES[kind][values]
    if kind == "bf2":
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64) if kind.startswith("f") else values


def data(kind, count, rank, seed=0):
    """Return what a rank sends: numbers of moderate size, so that products stay finite."""
    random = np.random.default_rng([seed, rank, count, TYPES[kind][0]])
    dtype = TYPES[kind][1]
    if kind[0] in "iu":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    numbers = random.uniform(0.5, 2, count) * random.choice([-1, 1], count)
    if kind == "bf2":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if kind in TABLES:
        table = TABLES[kind]
        return np.array([np.nanargmin(np.abs(table - n)) for n in numbers[:4096]], np.uint8)[np.arange(count) % 4096]
    return numbers.astype(dtype)


def check_reduced(got, parts, kind, op, factors=None):
    """Compare with the exact result of the parts, in the order of ranks."""
    combine = {SUM: np.add, AVG: np.add, PROD: np.multiply, MAX: np.maximum, MIN: np.minimum}[op]
    if kind[0] in "iu":  # which wrap, in numpy as on cards
        total = reduce(
            combine, parts if factors is None else [part * factor for part, factor in zip(parts, factors, strict=True)]
        )
        if op == AVG:  # towards zero
            total = (
                np.sign(total) * (np.abs(total.astype(object)) // len(parts)).astype(total.dtype)
                if kind[0] == "i"
                else total // len(parts)
            )
        assert (got == total).all(), (kind, op)
        return
    exact = [wide(part, kind) for part in parts]
    if factors is not None:
        exact = [part * factor for part, factor in zip(exact, factors, strict=True)]
    total = exact[0]
    size = np.abs(exact[0])
    for part in exact[1:]:
        total = combine(total, part)
        size = np.maximum(size, np.abs(total)) if op == PROD else size + np.abs(part)
    if op == AVG:
        total, size = total / len(parts), size / len(parts)
    # Each operation rounds once, in binary32 at least; the result once more.
    step = min(EPSILON[kind], 2.0**-24) if kind != "f8" else EPSILON[kind]
    scaled = 2 * EPSILON[kind] if factors is not None else 0
    bound = size * (step * 2 * len(parts) + scaled) + np.abs(total) * EPSILON[kind] * 1.01 + TINY[kind]
    if op in (MIN, MAX):
        bound = 0
    error = np.abs(wide(got, kind) - total)
    assert (error <= bound).all(), (kind, op, error.max())


class Rank:
    def __init__(self, nccl, rank, count, identity, config=None):
        self.nccl, self.rank, self.count = nccl, rank, count
        create = nccl.file.ncclCommInitRankConfig
        create.argtypes = [ctypes.c_void_p, ctypes.c_int, UniqueId, ctypes.c_int, ctypes.c_void_p]
        made = ctypes.c_void_p()
        passed = ctypes.addressof(config) if config else None
        self.made = create(ctypes.addressof(made), count, UniqueId.from_buffer_copy(identity), rank, passed)
        assert self.made in (0, IN_PROGRESS), self.made
        self.comm = made.value

    def error(self):
        code = ctypes.c_int(-1)
        self.nccl("ncclCommGetAsyncError", self.comm, code)
        return code.value

    def call(self, name, *arguments, stream=None):
        self.nccl(name, *arguments, self.comm, stream)

    def done(self, stream=None):
        return self.nccl._cuda.cuStreamSynchronize(ctypes.c_void_p(stream))


def collectives(me: Rank):
    """Each collective with each type, and reductions with each operator."""
    n, r = me.count, me.rank
    for position, (kind, (number, dtype)) in enumerate(TYPES.items()):
        for count in [1, 1001, *([40009] if position % 4 == 3 else [])]:
            parts = [data(kind, count, rank) for rank in range(n)]
            mine, root = parts[r].copy(), (position + 1) % n
            for op in range(5):
                got = np.zeros(count, dtype)
                me.call("ncclAllReduce", mine, got, count, number, op)
                assert me.done() == 0
                check_reduced(got, parts, kind, op)
            inside = mine.copy()
            me.call("ncclAllReduce", inside, inside, count, number, SUM)
            got = np.zeros(count, dtype)
            me.call("ncclReduce", mine, got, count, number, PROD, root)
            spread = np.zeros(count, dtype)
            me.call("ncclBroadcast", mine, spread, count, number, root)
            placed = mine.copy()
            me.call("ncclBcast", placed, count, number, root)
            gathered = np.zeros(count * n, dtype)
            me.call("ncclAllGather", mine, gathered, count, number)
            everything = [data(kind, count * n, rank, 1) for rank in range(n)]
            share = np.zeros(count, dtype)
            me.call("ncclReduceScatter", everything[r], share, count, number, MAX)
            inside_share = everything[r].copy()
            part = slice(r * count, (r + 1) * count)
            me.call("ncclReduceScatter", inside_share, inside_share[part], count, number, SUM)
            swapped = np.zeros(count * n, dtype)
            me.call("ncclAlltoAll", everything[r], swapped, count, number)
            at_root = np.zeros(count * n, dtype)
            me.call("ncclGather", mine, at_root, count, number, root)
            piece = np.zeros(count, dtype)
            me.call("ncclScatter", everything[r], piece, count, number, root)
            assert me.done() == 0
            check_reduced(inside, parts, kind, SUM)
            if r == root:
                check_reduced(got, parts, kind, PROD)
                assert (at_root == np.concatenate(parts)).all()
            else:
                assert not got.any() and not at_root.any()
            assert (spread == parts[root]).all() and (placed == parts[root]).all()
            assert (gathered == np.concatenate(parts)).all()
            check_reduced(share, [x[part] for x in everything], kind, MAX)
            check_reduced(inside_share[part], [x[part] for x in everything], kind, SUM)
            assert (swapped == np.concatenate([x[part] for x in everything])).all()
            assert (piece == everything[root][part]).all()


def lengths(me: Rank):
    """Sizes around the places where something changes, and the same bits on all ranks."""
    for count in (1, 2, 3, 4095, 4096, 4097, 5000, 65537, 262147, 1200003):
        parts = [data("f4", count, rank, count) for rank in range(me.count)]
        got = np.full(count + 8, 77, np.float32)
        mine, inside, spread = parts[me.rank].copy(), parts[me.rank].copy(), parts[me.rank].copy()
        me.call("ncclAllReduce", mine, got, count, 7, SUM)
        assert me.done() == 0
        mine[:] = np.nan  # when a call is done nobody reads what it sent
        me.call("ncclAllReduce", inside, inside, count, 7, SUM)
        me.call("ncclBroadcast", spread, spread, count, 7, 1)
        assert me.done() == 0
        assert inside.tobytes() == got[:count].tobytes() and (spread == parts[1]).all()
        check_reduced(got[:count], parts, "f4", SUM)
        assert (got[count:] == 77).all()
        in_order = parts[0]
        for part in parts[1:]:
            in_order = in_order + part
        assert (got[:count] == in_order).all()  # the order of ranks, whatever came first


def pairs(me: Rank):
    """Groups of sends and receives, more than fits into a ring, to all at once and to oneself."""
    n, r = me.count, me.rank
    for count in (1, 7, 300001):
        sent = [data("f4", count, r, 10 + to) for to in range(n)]
        twice = [data("u1", 3, r, 30 + to) for to in range(n)]
        got = [np.zeros(count, np.float32) for _ in range(n)]
        more = [np.zeros(3, np.uint8) for _ in range(n)]
        total = np.zeros(5, np.float64)
        me.nccl("ncclGroupStart")
        me.nccl("ncclGroupStart")
        for other in range(n):
            me.call("ncclSend", sent[other], count, 7, other)
            me.call("ncclSend", twice[other], 3, 1, other)
        me.nccl("ncclGroupEnd")
        me.call("ncclAllReduce", np.arange(5.0), total, 5, 8, SUM)
        for other in range(n):
            me.call("ncclRecv", got[other], count, 7, other)
            me.call("ncclRecv", more[other], 3, 1, other)
        me.nccl("ncclGroupEnd")
        assert me.done() == 0
        assert (total == np.arange(5.0) * n).all()
        for other in range(n):
            assert (got[other] == data("f4", count, other, 10 + r)).all()
            assert (more[other] == data("u1", 3, other, 30 + r)).all()
    # Without a group, one after the other.
    value = np.full(1, 5 + r, np.int32)
    if r == 0:
        me.call("ncclSend", value, 1, 2, 1)
    elif r == 1:
        me.call("ncclRecv", value, 1, 2, 0)
    assert me.done() == 0
    assert value[0] == (5 if r < 2 else 5 + r)


def streams(me: Rank):
    """Streams that ranks use in another order, and graphs that are launched again and again."""
    cuda = me.nccl._cuda
    made = [ctypes.c_void_p(), ctypes.c_void_p()]
    for stream in made:
        assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    first, second = np.full(1000, 1.0), np.full(1000, 2.0)
    for _ in range(20):
        me.call("ncclAllReduce", first, first, 1000, 8, MAX, stream=made[0].value)
        me.call("ncclAllReduce", second, second, 1000, 8, MAX, stream=made[1].value)
    assert me.done(made[0].value) == 0 and me.done(made[1].value) == 0
    assert (first == 1).all() and (second == 2).all()
    # A group over two streams.
    me.nccl("ncclGroupStart")
    me.call("ncclAllReduce", first, first, 1000, 8, SUM, stream=made[0].value)
    me.call("ncclAllReduce", second, second, 1000, 8, SUM, stream=made[1].value)
    me.nccl("ncclGroupEnd")
    assert me.done(made[1].value) == 0
    assert (first == me.count).all() and (second == 2 * me.count).all()
    graph, launched = ctypes.c_void_p(), ctypes.c_void_p()
    value = np.full(3, 1, np.int64)
    assert cuda.cuStreamBeginCapture_v2(made[0], 0) == 0
    me.call("ncclAllReduce", value, value, 3, 4, SUM, stream=made[0].value)
    assert cuda.cuStreamEndCapture(made[0], ctypes.byref(graph)) == 0
    assert value[0] == 1
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(launched), graph, ctypes.c_uint64(0)) == 0
    for _ in range(3):
        assert cuda.cuGraphLaunch(launched, made[0]) == 0
    assert me.done(made[0].value) == 0
    assert (value == me.count**3).all()


def operators(me: Rank):
    n, r = me.count, me.rank
    for kind in ("f2", "f4", "f8", "bf2", "e4m3", "i4"):
        number, dtype = TYPES[kind]
        factors = [data(kind, 1, rank, 5) for rank in range(n)]
        for residence in (0, 1):
            op = ctypes.c_int()
            place = factors[r].copy()
            me.nccl("ncclRedOpCreatePreMulSum", op, place, number, residence, me.comm)
            if residence == 1:
                place[:] = 0  # was read at the call
            for count in (5, 30001):
                parts = [data(kind, count, rank, 6) for rank in range(n)]
                got = np.zeros(count, dtype)
                me.call("ncclAllReduce", parts[r], got, count, number, op.value)
                assert me.done() == 0
                check_reduced(got, parts, kind, SUM, [wide(f, kind) for f in factors])
            assert me.nccl.status("ncclAllReduce", got, got, 1, 5, op.value, me.comm, None) == 4
            me.nccl("ncclRedOpDestroy", op.value, me.comm)
            assert me.nccl.status("ncclRedOpDestroy", op.value, me.comm) == 4


def split(me: Rank):
    """Even and odd ranks apart, in the opposite order; one rank stays outside."""
    n, r = me.count, me.rank
    child = ctypes.c_void_p()
    me.nccl("ncclCommSplit", me.comm, r % 2, -r, child, None)
    members = sorted((x for x in range(n) if x % 2 == r % 2), reverse=True)
    rank, count = ctypes.c_int(), ctypes.c_int()
    me.nccl("ncclCommUserRank", child.value, rank)
    me.nccl("ncclCommCount", child.value, count)
    assert (rank.value, count.value) == (members.index(r), len(members))
    got = np.zeros(len(members), np.int32)
    me.nccl("ncclAllGather", np.full(1, r, np.int32), got, 1, 2, child.value, None)
    assert me.done() == 0
    assert got.tolist() == members
    me.nccl("ncclCommDestroy", child.value)
    outside = ctypes.c_void_p(1)
    me.nccl("ncclCommSplit", me.comm, -1 if r == 0 else 3, 0, outside, None)
    assert (outside.value is None) == (r == 0)
    if r:
        total = np.ones(1, np.float32)
        me.nccl("ncclAllReduce", total, total, 1, 7, SUM, outside.value, None)
        assert me.done() == 0
        assert total[0] == n - 1
        me.nccl("ncclCommDestroy", outside.value)


def _members(me: Rank, comm):
    """Return the rank and the count of a communicator that is derived, and what its ranks are elsewhere."""
    rank, count = ctypes.c_int(), ctypes.c_int()
    me.nccl("ncclCommUserRank", comm, rank)
    me.nccl("ncclCommCount", comm, count)
    got = np.zeros(count.value, np.int32)
    me.nccl("ncclAllGather", np.full(1, me.rank, np.int32), got, 1, 2, comm, None)
    assert me.done() == 0
    return rank.value, count.value, got.tolist()


def shrink(me: Rank):
    """Without rank 1, who does not call; the parent is of use afterwards."""
    child, without = ctypes.c_void_p(), np.array([1], np.int32)
    if me.rank != 1:
        me.nccl("ncclCommShrink", me.comm, without, 1, child, None, 0)
        left = [x for x in range(me.count) if x != 1]
        assert _members(me, child.value) == (left.index(me.rank), len(left), left)
        me.nccl("ncclCommDestroy", child.value)
        for excluded, count, flags in (([me.rank], 1, 0), ([me.count], 1, 0), ([1], 0, 0), ([1], 1, 2)):
            arguments = me.comm, np.array(excluded, np.int32), count, child, None, flags
            assert me.nccl.status("ncclCommShrink", *arguments) == 4
    total = np.ones(1, np.float32)
    me.call("ncclAllReduce", total, total, 1, 7, SUM)
    assert me.done() == 0 and total[0] == me.count


def hung(me: Rank):
    """Rank 1 never joins a collective: the others give it up and go on without it."""
    beside = ctypes.c_void_p()
    me.nccl("ncclCommSplit", me.comm, 0, me.rank, beside, None)
    stream, child, without = ctypes.c_void_p(), ctypes.c_void_p(), np.array([1], np.int32)
    assert me.nccl._cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    if me.rank != 1:
        big = np.ones(1 << 20, np.float32)
        me.call("ncclAllReduce", big, big, 1 << 20, 7, SUM, stream=stream.value)
        me.nccl("ncclCommShrink", me.comm, without, 1, child, None, 1)
        assert me.done(stream.value) == 0
        left = [x for x in range(me.count) if x != 1]
        assert _members(me, child.value) == (left.index(me.rank), len(left), left)
        me.nccl("ncclCommDestroy", child.value)
    _members(me, beside.value)  # rank 1 is there until now
    me.nccl("ncclCommDestroy", beside.value)


def revoked(me: Rank):
    """What is under way ends without an error; nothing new begins, but the ranks still agree."""
    stream, child = ctypes.c_void_p(), ctypes.c_void_p()
    assert me.nccl._cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    value = np.ones(1 << 20, np.float32)
    if me.rank != 1:
        me.call("ncclAllReduce", value, value, 1 << 20, 7, SUM, stream=stream.value)
    assert me.nccl.status("ncclCommRevoke", me.comm, 1) == 4
    me.nccl("ncclCommRevoke", me.comm, 0)
    assert me.done(stream.value) == 0 and me.error() == 0
    assert me.nccl.status("ncclAllReduce", value, value, 1, 7, SUM, me.comm, None) == 5
    assert me.nccl.status("ncclCommFinalize", me.comm) == 5
    me.nccl("ncclCommSplit", me.comm, 0, 0, child, None)
    everyone = list(range(me.count))
    assert _members(me, child.value) == (me.rank, me.count, everyone)
    me.nccl("ncclCommDestroy", child.value)


def grow(me: Rank):
    """All but the last rank are there first; it joins them with the id of rank 0, or of the call itself."""
    for passed in (False, True):
        first, grown = ctypes.c_void_p(), ctypes.c_void_p()
        newcomer = me.rank == me.count - 1
        me.nccl("ncclCommSplit", me.comm, -1 if newcomer else 0, me.rank, first, None)
        identity = UniqueId()
        if me.rank == 0:
            me.nccl("ncclCommGetUniqueId", first.value, identity)
            assert me.nccl.status("ncclCommGetUniqueId", first.value, UniqueId()) == 5  # one at a time
        shared = np.frombuffer(bytes(identity), np.uint8).copy()
        me.call("ncclBroadcast", shared, shared, 128, 1, 0)
        assert me.done() == 0
        identity = UniqueId.from_buffer_copy(shared.tobytes())
        if newcomer:
            assert me.nccl.status("ncclCommGrow", None, me.count, None, me.rank, grown, None) == 4
            me.nccl("ncclCommGrow", None, me.count, identity, me.rank, grown, None)
        else:
            assert me.nccl.status("ncclCommGrow", first.value, me.count - 1, None, -1, grown, None) == 4
            assert me.nccl.status("ncclCommGrow", first.value, me.count, None, 0, grown, None) == 4
            given = identity if passed and me.rank == 0 else None
            me.nccl("ncclCommGrow", first.value, me.count, given, -1, grown, None)
            me.nccl("ncclCommDestroy", first.value)
        assert _members(me, grown.value) == (me.rank, me.count, list(range(me.count)))
        me.nccl("ncclCommDestroy", grown.value)


def suspended(me: Rank):
    value, total = ctypes.c_uint64(7), np.ones(1, np.float32)

    def statistics():
        found = []
        for what in range(4):
            me.nccl("ncclCommMemStats", me.comm, what, value)
            found.append(value.value)
        return found

    assert statistics() == [0, 0, 0, 0]
    assert me.nccl.status("ncclCommSuspend", me.comm, 2) == 4
    me.nccl("ncclCommSuspend", me.comm, 1)
    assert statistics() == [0, 1, 0, 0]
    assert me.nccl.status("ncclAllReduce", total, total, 1, 7, SUM, me.comm, None) == 5
    me.nccl("ncclCommResume", me.comm)
    assert me.nccl.status("ncclCommResume", me.comm) == 5
    assert me.nccl.status("ncclCommMemStats", me.comm, 4, value) == 4
    me.call("ncclAllReduce", total, total, 1, 7, SUM)
    assert me.done() == 0 and total[0] == me.count


def windows(me: Rank):
    memory, window, place = np.zeros(4096, np.uint8), ctypes.c_void_p(), ctypes.c_void_p()
    me.nccl("ncclCommWindowRegister", me.comm, memory, 4096, window, 1)
    me.nccl("ncclWinGetUserPtr", me.comm, window.value, place)
    assert place.value == memory.ctypes.data
    total = memory[:8].view(np.float64)
    total[:] = 1
    me.call("ncclAllReduce", total, total, 1, 8, SUM)
    assert me.done() == 0 and total[0] == me.count
    assert me.nccl.status("ncclCommWindowRegister", me.comm, memory, 4096, window, 64) == 4
    assert me.nccl.status("ncclCommWindowRegister", me.comm, None, 4096, window, 0) == 4
    me.nccl("ncclCommWindowDeregister", me.comm, window.value)
    assert me.nccl.status("ncclWinGetUserPtr", me.comm, window.value, place) == 4


def later(me: Rank):
    """A communicator made without blocking."""
    until = time.monotonic() + 60
    while (code := me.error()) == IN_PROGRESS and time.monotonic() < until:
        time.sleep(0.01)
    assert code == 0
    total = np.ones(1, np.float32)
    me.call("ncclAllReduce", total, total, 1, 7, SUM)
    assert me.done() == 0
    assert total[0] == me.count


def killed(me: Rank):
    """The last rank ends in the middle: the others learn it soon, from the stream and from the communicator."""
    big = np.ones(1 << 20, np.float32)
    me.call("ncclAllReduce", big, big, big.size, 7, SUM)
    assert me.done() == 0
    if me.rank == me.count - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    began = time.monotonic()
    me.call("ncclAllReduce", big, big, big.size, 7, SUM)
    assert me.done() == 719  # CUDA_ERROR_LAUNCH_FAILED
    assert time.monotonic() - began < 5
    assert me.error() == REMOTE
    assert me.nccl.status("ncclAllReduce", big, big, 1, 7, SUM, me.comm, None) == REMOTE
    me.nccl("ncclCommAbort", me.comm)
    print("fine", flush=True)
    os._exit(0)


def idle(me: Rank):
    """A rank ends while nothing is under way: who asks learns it."""
    if me.rank == me.count - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    until = time.monotonic() + 10
    while me.error() == 0 and time.monotonic() < until:
        time.sleep(0.01)
    assert me.error() == REMOTE
    me.nccl("ncclCommAbort", me.comm)
    print("fine", flush=True)
    os._exit(0)


def aborted(me: Rank):
    """What waits for a rank that never comes ends when the program gives up."""
    if me.rank == 0:
        value = np.ones(1, np.float32)
        me.call("ncclAllReduce", value, value, 1, 7, SUM)
        time.sleep(0.2)
        me.nccl("ncclCommAbort", me.comm)
        assert me.done() == 0
    else:
        until = time.monotonic() + 10
        while me.error() == 0 and time.monotonic() < until:
            time.sleep(0.01)
        assert me.error() == REMOTE
        me.nccl("ncclCommAbort", me.comm)
    print("fine", flush=True)
    os._exit(0)


def different(me: Rank):
    """Ranks that call different things are told so."""
    value = np.zeros(64, np.float32)
    me.call("ncclAllReduce", value, value, 8 + me.rank, 7, SUM)
    assert me.done() == 719
    assert me.error() in (5, REMOTE)  # who saw it first, and who was told
    print("fine", flush=True)
    os._exit(0)


def wild(me: Rank):
    """A wild address is the rank's error 700, and the others' remote error."""
    value = np.zeros(50000, np.float32)
    me.call("ncclAllReduce", value if me.rank else 0x10000, value, value.size, 7, SUM)
    assert me.done() == (719 if me.rank else 700)
    until = time.monotonic() + 5
    while me.error() == 0 and time.monotonic() < until:
        time.sleep(0.01)
    assert me.error() == (REMOTE if me.rank else 1)
    print("fine", flush=True)
    os._exit(0)


def wild_in_a_graph(me: Rank):
    cuda, stream, graph, launched = me.nccl._cuda, ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
    value = np.zeros(50000, np.float32)
    me.call("ncclAllReduce", value if me.rank else 0x10000, value, value.size, 7, SUM, stream=stream.value)
    assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(launched), graph, ctypes.c_uint64(0)) == 0
    assert cuda.cuGraphLaunch(launched, stream) == 0
    assert me.done(stream.value) == (719 if me.rank else 700)
    assert me.error() == (REMOTE if me.rank else 1)
    time.sleep(0.5 if me.rank == 0 else 0)  # the others learn it before this process ends
    print("fine", flush=True)
    os._exit(0)


def main(names, rank, count, identities):
    nccl = Library("nccl", "libnccl.so.2")
    context = ctypes.c_void_p()
    assert nccl._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert nccl._cuda.cuCtxSetCurrent(context) == 0
    for name, identity in zip(names, identities, strict=True):
        me = Rank(nccl, rank, count, bytes.fromhex(identity), non_blocking() if name == "later" else None)
        globals()[name](me)
        me.nccl("ncclCommDestroy", me.comm)
    print("fine", flush=True)


if __name__ == "__main__":
    main(sys.argv[1].split(","), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(","))
