"""Graphs are turned off where a compiled model is divided among devices, and nowhere else; a stand-in has vLLM's configuration."""

import enum
from types import SimpleNamespace

import pytest

from anywarp.frameworks.vllm import graphs


class Mode(enum.Enum):
    NONE = 0
    FULL_AND_PIECEWISE = (2, 1)

    def __bool__(self):
        return self is not Mode.NONE


class Platform:
    asked = 0

    @classmethod
    def check_and_update_config(cls, vllm_config):
        cls.asked += 1
        vllm_config.seen = True


@pytest.mark.parametrize(
    ("devices", "compiled", "before", "after"),
    [
        (2, 3, Mode.FULL_AND_PIECEWISE, Mode.NONE),
        (1, 3, Mode.FULL_AND_PIECEWISE, Mode.FULL_AND_PIECEWISE),
        (2, 0, Mode.FULL_AND_PIECEWISE, Mode.FULL_AND_PIECEWISE),
        (2, 3, Mode.NONE, Mode.NONE),
    ],
    ids=["compiled on two", "compiled on one", "not compiled on two", "without graphs"],
)
def test_graphs_of_a_compiled_model_on_several_devices(devices, compiled, before, after):
    class Served(Platform):
        check_and_update_config = graphs.without_compiled_collectives(Platform.check_and_update_config)

    class OfNvml(Served):
        """vLLM's platforms derive from the one that is changed."""

    compilation = SimpleNamespace(
        mode=compiled, cudagraph_mode=before, max_cudagraph_capture_size=4, cudagraph_capture_sizes=[1, 2, 4]
    )
    config = SimpleNamespace(
        parallel_config=SimpleNamespace(tensor_parallel_size=devices), compilation_config=compilation
    )
    OfNvml.check_and_update_config(config)
    assert config.seen and OfNvml.asked == 1 and Platform.asked == 0
    assert compilation.cudagraph_mode is after
    changed = before is not after
    assert compilation.cudagraph_capture_sizes == ([] if changed else [1, 2, 4])
    assert compilation.max_cudagraph_capture_size == (0 if changed else 4)
