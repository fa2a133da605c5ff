"""Which architecture is compiled, of all the ways in which several can be asked for."""

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain.architectures import Architecture, chosen, read
from anywarp.toolchain.options import parse


@pytest.mark.parametrize("text", ["sm_80", "compute_80", "native", "all", "all-major"])
def test_the_devices_own_architecture_in_every_spelling(text):
    assert read(text) == Architecture(80)


def test_features_of_one_architecture_are_kept():
    assert read("sm_90a").name == "sm_90a"
    assert read("compute_100f").name == "sm_100f"


@pytest.mark.parametrize("text", ["sm_20", "compute_35", "sm_37"])
def test_what_newer_releases_of_cuda_dropped_is_the_oldest_that_there_is(text):
    assert read(text) == Architecture(50)


@pytest.mark.parametrize("text", ["sm_81", "sm80", "compute_", "gfx90a", "sm_80x", "sm_35a", "sm_22", ""])
def test_what_is_no_architecture_is_refused_by_name(text):
    with pytest.raises(AnywarpError) as caught:
        read(text)
    assert repr(text) in caught.value.diagnostic.message


@pytest.mark.parametrize(
    "words, number",
    [
        ([], 80),
        (["-arch=sm_75"], 75),
        (["-arch=sm_90"], 90),
        (["-gencode", "arch=compute_70,code=sm_70", "-gencode", "arch=compute_80,code=sm_80"], 80),
        (["-gencode", "arch=compute_75,code=sm_75", "-gencode", "arch=compute_90,code=sm_90"], 75),
        (["-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_120,code=sm_120"], 90),
        (["-gencode", 'arch=compute_80,code=\\"sm_80,compute_80\\"'], 80),
        (["-gencode=arch=compute_37,code=sm_37", "-gencode=arch=compute_75,code=sm_75"], 75),
        (["-gencode", "arch=compute_86,code=[compute_86,sm_86]"], 86),
    ],
)
def test_the_best_that_the_device_runs_is_chosen_else_the_lowest(words, number):
    assert chosen(parse(words)).number == number


def test_old_architectures_get_ptx_that_every_driver_reads():
    assert Architecture(80).ptx_feature == "+ptx86"
    assert Architecture(121).ptx_feature == "+ptx88"
