"""The door for devices: what every installed one must answer, and what happens with those that do not."""

import sys
from pathlib import Path

import pytest

from anywarp.devices import device as devices
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module
from anywarp.runtime.cache import intact

FAKES = Path(__file__).resolve().parents[1] / "fakes"
MODULE = """
.version 7.8
.target sm_80
.address_size 64
.visible .entry keep(.param .u64 keep_param_0) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [keep_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""


@pytest.fixture(autouse=True)
def installed_toy(monkeypatch):
    monkeypatch.syspath_prepend(str(FAKES))
    yield
    sys.modules.pop("toy_device", None)


@pytest.mark.parametrize("name", ["cpu", "toy"])
def test_a_device_conforms(name):
    device = devices.find(name)
    assert isinstance(device, devices.Device)
    assert device.name == name
    assert device.identity().startswith(f"{name}:") and not set(device.identity()) & set(" \n\t")
    assert device.identity() == device.identity()
    for info in device.probe():
        assert info.name and info.memory > 0
    index = index_module(MODULE)
    assert intact(device.describe(index))
    for block in (None, (32, 1, 1), (7, 3, 2)):
        assert intact(device.compile(index, devices.CompileRequest("keep", block)))


def test_a_device_names_what_it_cannot_compile():
    with pytest.raises(AnywarpError) as caught:
        devices.find("toy").compile(index_module(MODULE), devices.CompileRequest("missing"))
    assert "missing" in caught.value.diagnostic.message


def test_a_device_from_elsewhere_is_listed():
    assert {"cpu", "toy"} <= set(devices.names())


def test_an_unknown_device_is_refused_with_the_known_ones():
    with pytest.raises(AnywarpError) as caught:
        devices.find("abacus")
    assert caught.value.diagnostic.code == "D001"
    assert "cpu" in caught.value.diagnostic.help


@pytest.mark.parametrize("name", ["broken", "half"])
def test_a_device_that_does_not_answer_is_refused(name):
    with pytest.raises(AnywarpError) as caught:
        devices.find(name)
    assert caught.value.diagnostic.code == "D002"
