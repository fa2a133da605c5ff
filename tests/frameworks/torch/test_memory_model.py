"""The caching allocator against a model: random requests, frees and streams; blocks never overlap, counters add up.

The model knows only what torch documents: sizes, what is alive, and that a snapshot's blocks tile their segments.
"""

import gc
import itertools

import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

pytestmark = pytest.mark.torch

SMALL = 1 << 20
SIZES = st.one_of(
    st.integers(1, 5000),
    st.sampled_from([511, 512, 513, SMALL - 1, SMALL, SMALL + 1, 2 << 20, 10 << 20, (20 << 20) + 1]),
    st.integers(SMALL, 24 << 20),
)


def rounded(size):
    return max(512, (size + 511) // 512 * 512)


class Allocator(RuleBasedStateMachine):
    blocks = Bundle("blocks")

    def __init__(self):
        super().__init__()
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        self.streams = [torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
        self.live = {}
        self.before = torch.cuda.memory_stats()
        self.most_requested = 0

    @rule(target=blocks, size=SIZES, stream=st.integers(0, 2))
    def allocate(self, size, stream):
        address = torch.cuda.caching_allocator_alloc(size, stream=self.streams[stream])
        assert address % 512 == 0
        for other, length in self.live.items():
            assert address + size <= other or other + length <= address
        self.live[address] = size
        self.most_requested = max(self.most_requested, sum(self.live.values()))
        return address

    @rule(address=consumes(blocks))
    def free(self, address):
        torch.cuda.caching_allocator_delete(address)
        del self.live[address]

    @rule()
    def empty(self):
        torch.cuda.empty_cache()

    @invariant()
    def counters_equal_the_model(self):
        now = torch.cuda.memory_stats()

        def grown(name):
            return now[name] - self.before[name]

        assert grown("requested_bytes.all.current") == sum(self.live.values())
        assert now["requested_bytes.all.peak"] - self.before["requested_bytes.all.current"] == self.most_requested
        assert grown("allocation.all.current") == len(self.live)
        small = [rounded(size) for size in self.live.values() if size <= SMALL]
        assert grown("allocated_bytes.small_pool.current") == sum(small)
        large = [rounded(size) for size in self.live.values() if size > SMALL]
        # A remainder of up to 1 MiB stays with a large block.
        assert 0 <= grown("allocated_bytes.large_pool.current") - sum(large) <= SMALL * len(large)
        assert grown("active_bytes.all.current") == grown("allocated_bytes.all.current")
        for name in ("allocated_bytes", "reserved_bytes", "active", "segment"):
            parts = now[f"{name}.small_pool.current"] + now[f"{name}.large_pool.current"]
            assert now[f"{name}.all.current"] == parts
            assert grown(f"{name}.all.current") == grown(f"{name}.all.allocated") - grown(f"{name}.all.freed")

    @invariant()
    def snapshot_tiles_its_segments(self):
        segments = torch.cuda.memory_snapshot()
        now = torch.cuda.memory_stats()
        assert sum(each["total_size"] for each in segments) == now["reserved_bytes.all.current"]
        assert len(segments) == now["segment.all.current"]
        end, seen, idle, idle_bytes = 0, {}, 0, 0
        for segment in segments:
            assert segment["address"] % (2 << 20) == 0 and segment["total_size"] % (2 << 20) == 0
            assert segment["address"] >= end
            place = segment["address"]
            for block in segment["blocks"]:
                assert block["address"] == place and block["size"] % 512 == 0
                place += block["size"]
                if block["state"] == "active_allocated":
                    seen[block["address"]] = block["requested_size"]
                elif len(segment["blocks"]) > 1:
                    idle, idle_bytes = idle + 1, idle_bytes + block["size"]
            end = segment["address"] + segment["total_size"]
            assert place == end
            states = [block["state"] for block in segment["blocks"]]
            assert ("inactive", "inactive") not in set(itertools.pairwise(states))
        assert self.live.items() <= seen.items()
        assert (now["inactive_split.all.current"], now["inactive_split_bytes.all.current"]) == (idle, idle_bytes)

    def teardown(self):
        for address in self.live:
            torch.cuda.caching_allocator_delete(address)
        torch.cuda.empty_cache()
        now = torch.cuda.memory_stats()
        assert now["allocated_bytes.all.current"] == self.before["allocated_bytes.all.current"]
        assert now["reserved_bytes.all.current"] <= self.before["reserved_bytes.all.current"]


@pytest.mark.parametrize("examples", [8, pytest.param(100, marks=pytest.mark.long)])
def test_allocator(examples):
    quiet = list(HealthCheck)
    run_state_machine_as_test(
        Allocator,
        settings=settings(max_examples=examples, stateful_step_count=40, deadline=None, suppress_health_check=quiet),
    )
