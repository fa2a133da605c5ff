"""Reading what the kernel driver says of AMD GPUs, and naming the device `hip`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp.devices import device as devices
from anywarp.devices.hip import driver, tables
from anywarp.devices.hip.topology import architecture_of, processors
from anywarp.diagnostics import AnywarpError
from devices.hip.machines import add_node, add_processor, write

NODES = "sys/class/kfd/kfd/topology/nodes"


@pytest.mark.parametrize(
    ("number", "name"),
    [(90402, "gfx942"), (90010, "gfx90a"), (90008, "gfx908"), (90500, "gfx950"), (100300, "gfx1030"), (110001, "gfx1101"), (110501, "gfx1151"), (120001, "gfx1201")],
)  # fmt: skip
def test_the_drivers_number_names_the_architecture(number, name):
    assert architecture_of(number) == name


def test_gpus_are_read_in_the_order_of_their_nodes(tmp_path):
    add_processor(tmp_path)
    add_node(tmp_path, 10, 110000, lanes=32, units=96, gib=24, name="gfx1100")
    add_node(tmp_path, 2, 90402)
    found = processors(tmp_path / NODES)
    assert [gpu.architecture for gpu in found] == ["gfx942", "gfx1100"]
    assert (found[1].wave, found[1].compute_units, found[1].memory, found[1].pci) == (32, 96, 24 << 30, "0000:83:00.0")


@pytest.mark.parametrize("told", ["Instinct MI300X", "AMD Instinct MI300X"])
def test_the_make_stands_before_the_name_once(tmp_path, told):
    add_node(tmp_path, 1, 90402, name=told)
    assert processors(tmp_path / NODES)[0].name == "AMD Instinct MI300X (gfx942)"


def test_a_node_that_may_not_be_read_is_left_out(tmp_path):
    add_node(tmp_path, 1, 90402)
    write(tmp_path / NODES / "2/properties", "")
    write(tmp_path / NODES / "generation_id", "1")
    assert len(processors(tmp_path / NODES)) == 1 and processors(tmp_path / "nowhere") == ()


@given(st.binary(max_size=200))
def test_whatever_the_file_holds_nothing_is_raised(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("nodes")
    (folder / "1").mkdir()
    (folder / "1/properties").write_bytes(content)
    processors(folder)


def test_a_device_is_named_with_its_architecture():
    found = devices.named("hip:gfx942:sramecc+:xnack-")
    assert found.name == "hip" and found.identity() == "hip:gfx942:sramecc+:xnack-"


@pytest.mark.parametrize("name", ["hip:", "hip:sm_80", "hip:gfx942:xnack", "hip:gfx942 ", "hip:gfx942\n", "hip:gfx6xx"])
def test_a_name_of_no_gpu_is_told(name):
    with pytest.raises(AnywarpError) as caught:
        devices.named(name)
    assert caught.value.diagnostic.code == "D003"


def test_without_a_gpu_the_identity_says_what_to_do(monkeypatch):
    monkeypatch.setattr(driver, "processors", lambda: ())
    assert driver.device.probe() == ()
    with pytest.raises(AnywarpError) as caught:
        driver.device.identity()
    assert caught.value.diagnostic.code == "D004" and "doctor" in (caught.value.diagnostic.help or "")


def test_the_identity_is_that_of_the_first_gpu(monkeypatch, tmp_path):
    add_node(tmp_path, 1, 110000)
    found = processors(tmp_path / NODES)
    monkeypatch.setattr(driver, "processors", lambda: found)
    assert driver.device.identity() == "hip:gfx1100" and driver.device.probe()[0].memory == 192 << 30


def test_the_tables_are_well_formed_and_agree():
    products = [gpu.product for gpu in tables.gpus()]
    assert len(set(products)) == len(products) > 40
    known = {gpu.architecture for gpu in tables.gpus()}
    for row in tables.releases():
        assert set(row.architectures) <= known and row.pytorch and row.systems and row.source
    numbers = [tables.number(row.rocm) for row in tables.releases()]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("version", "row"),
    [("6.4.0", "6.4.0"), ("6.4.3", "6.4.1"), ("6.3.2", "6.3"), ("7.0.1", "7.0"), ("7.0.2-38", "7.0.2"), ("7.2.0", None), ("7.9.0", None), ("5.7", None), ("10.2.0", "10"), ("", None)],
)  # fmt: skip
def test_a_version_finds_the_row_that_speaks_for_it(version, row):
    found = tables.release(version)
    assert (found and found.rocm) == row
