"""Which version of a kernel's code a launch runs: only one whose assumptions hold for its parameters, and the faster one."""

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from anywarp.compiler.artifact import unpack_container
from native.by_hand import KernelByHand

pytestmark = pytest.mark.native

MARKS = """
KERNEL(marks) {
  auto out = param<uint32_t*>(launch, 0);
  for (uint64_t spin = 0; spin < SPIN; ++spin) asm volatile("");
  FOR_BLOCKS out[block.x] = MARK;
  return AW_OK;
}
"""
GENERAL = KernelByHand(
    "marks",
    f"#define MARK 1\n#define SPIN 300000\n{MARKS}",
    ((0, 8), (8, 4), (12, 4)),
    variant=((8, 4, 16), (12, 4, 32)),
)
OPTIONS = "multiple=8:4:16,12:4:32"

# Launches the kernel for each pair of numbers given, in order, and prints what each launch left.
PROGRAM = """
import ctypes, sys
sys.path.insert(0, 'tests')
from native.by_hand import Driver
d = Driver(); d.cuInit(0); d.out('cuCtxCreate_v2', 0, 0)
function = d.out('cuModuleGetFunction', d.out('cuModuleLoadData', open(sys.argv[1], 'rb').read()), b'marks')
out, marks = d.out('cuMemAlloc_v2', 4096), []
for pair in sys.argv[2:]:
    n, stride = (ctypes.c_uint32(int(x) & 0xFFFFFFFF) for x in pair.split(','))
    d.launch(function, 8, 32, [ctypes.c_uint64(out), n, stride])
    d.cuCtxSynchronize()
    marks.append(ctypes.c_uint32.from_address(out + 28).value)
print(*marks)
"""


def mark(number: int, spin: int) -> KernelByHand:
    return replace(GENERAL, source=f"#define MARK {number}\n#define SPIN {spin}\n{MARKS}", variant=())


@pytest.fixture
def launches(tmp_path, handmade):
    """Make a module with a general version and a special one of some slowness; returns what launches it."""

    def make(spin: int, tag: str):
        image = handmade.module(GENERAL, tag=tag)
        handmade.version(image, mark(2, spin), OPTIONS)
        path = tmp_path / "image.ptx"
        path.write_bytes(image)

        def run(*pairs: str, policy: str = "automatic", writes: bool = True) -> list[int]:
            command = [sys.executable, "-c", PROGRAM, str(path), *pairs]
            command = command if writes else ["prlimit", "--fsize=0", *command]
            environment = {**os.environ, "ANYWARP_VERSIONS": policy}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stderr
            return [int(word) for word in done.stdout.split()]

        return run

    return make


def test_the_special_version_runs_exactly_where_its_assumptions_hold(launches):
    run = launches(1000, "exactly")
    run(*["16,32"] * 12, policy="best")  # compared
    pairs = ("16,32", "16,16", "8,32", "0,0", "-16,-32", "-16,-16", "160,64", "1,1", "2147483632,96")
    assert run(*pairs, policy="best") == [2, 1, 1, 2, 2, 1, 2, 1, 2]


def test_plain_code_assumes_nothing(launches):
    assert launches(1000, "plain")("16,32", "0,0", policy="plain") == [1, 1]


@pytest.mark.parametrize("policy", ["automatic", "best"])
def test_a_faster_version_takes_over_after_a_trial(launches, policy):
    marks = launches(0, f"faster, {policy}")(*["16,32"] * 40, policy=policy)
    assert {1, 2} == set(marks[:12])  # both were tried
    assert set(marks[-20:]) == {2}


@pytest.mark.parametrize("policy", ["automatic", "best"])
def test_a_slower_version_is_left_after_a_trial(launches, policy):
    marks = launches(30_000_000, f"slower, {policy}")(*["16,32"] * 40, policy=policy)
    assert {1, 2} == set(marks[:12])
    assert set(marks[-20:]) == {1}


@pytest.mark.parametrize(("spin", "tag", "best"), [(0, "known faster", 2), (30_000_000, "known slower", 1)])
def test_a_second_process_begins_with_what_the_first_has_found_to_be_best(launches, spin, tag, best):
    run = launches(spin, tag)
    assert len(set(run(*["16,32"] * 12))) == 2
    assert set(run("16,32", "16,32")) == {best}
    assert run("16,32", "16,33") == [best, 1]


def test_processes_that_compare_at_once_all_end_with_the_better_version(launches):
    run = launches(0, "at once")
    with ThreadPoolExecutor(4) as pool:
        marks = list(pool.map(lambda _: run(*["16,32"] * 12), range(4)))
    assert all(set(found[-4:]) == {2} for found in marks)
    assert set(run("16,32")) == {2}


def comparisons():
    cache = Path(os.environ["ANYWARP_CACHE_DIR"])
    return [p for p in (cache / "objects").rglob("*") if p.is_file() and b"kind comparison\n" in p.read_bytes()]


def test_what_was_found_is_kept_as_the_contract_says_and_a_damaged_note_is_none(launches):
    run = launches(0, "damaged")
    before = set(comparisons())
    run(*["16,32"] * 12)
    (note,) = set(comparisons()) - before
    lines = dict(line.split(" ", 1) for line in unpack_container(note.read_bytes())[0].splitlines())
    blocks, replaced, own, better = map(int, lines["times"].split())
    assert lines["kernel"] == "marks" and lines["options"] == OPTIONS.replace(" ", "%20")
    assert blocks == 8 and better == 1 and own < replaced and note.stat().st_mode & 0o777 == 0o600
    note.write_bytes(note.read_bytes()[:-3])
    assert len(set(run(*["16,32"] * 12))) == 2  # compared anew
    assert unpack_container(note.read_bytes())


def test_a_cache_that_takes_nothing_costs_only_the_memory_of_it(launches):
    run = launches(0, "full")
    before = set(comparisons())
    assert set(run(*["16,32"] * 12, writes=False)[-4:]) == {2}
    assert set(comparisons()) == before


def test_a_version_is_never_tried_where_it_must_not_run(launches):
    assert set(launches(0, "never")(*["16,33"] * 30)) == {1}


def test_options_are_spelled_as_in_the_contract(handmade, driver, context):
    """A version under another spelling is not found: the key is that of docs/contracts.md, section 2."""
    image = handmade.module(GENERAL, tag="spelling")
    handmade.version(image, mark(2, 0), "multiple=12:4:32,8:4:16")
    function = driver.out("cuModuleGetFunction", driver.out("cuModuleLoadData", image), b"marks")
    out = driver.out("cuMemAlloc_v2", 4096)
    driver.launch(function, 8, 32, [ctypes.c_uint64(out), ctypes.c_uint32(16), ctypes.c_uint32(32)])
    driver.cuCtxSynchronize()
    assert ctypes.c_uint32.from_address(out + 28).value == 1
