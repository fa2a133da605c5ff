"""What `anywarp doctor` finds on made-up machines with AMD GPUs, and the command that it names."""

import os

import pytest

from anywarp.devices.hip.checkup import cards_on_bus, examine_driver, in_container
from anywarp.devices.hip.software import LIBRARIES, architectures_of, examine_rocm, examine_torch, find_rocm
from anywarp.devices.hip.topology import processors
from devices.hip.machines import add_card, add_node, add_processor, add_rocm, write


def healthy(root, nodes=1, version=90402):
    """A machine with all that a program needs."""
    add_processor(root)
    for node in range(1, nodes + 1):
        add_card(root, f"0000:8{node}:00.0")
        add_node(root, node, version, name="aqua_vanjaram")
        write(root / f"dev/dri/renderD{128 + node}")
    write(root / "sys/module/amdgpu/version", "6.16.6\n")
    write(root / "dev/kfd")
    return root


def nodes_of(root):
    return processors(root / "sys/class/kfd/kfd/topology/nodes")


def by_name(facts):
    return {fact.name: fact for fact in facts}


@pytest.fixture(autouse=True)
def _no_choice_of_devices(monkeypatch):
    for name in ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "HSA_OVERRIDE_GFX_VERSION"):
        monkeypatch.delenv(name, raising=False)


def test_a_machine_without_an_amd_gpu_has_no_problem(tmp_path):
    add_card(tmp_path, vendor="0x10de")
    facts = [*examine_driver(tmp_path), *examine_rocm((), tmp_path), *examine_torch((), None)]
    assert {fact.status for fact in facts} == {"absent"}


def test_a_healthy_machine_is_all_right_and_its_gpu_is_named(tmp_path):
    facts = by_name(examine_driver(healthy(tmp_path)))
    assert {fact.status for fact in facts.values()} == {"ok"}
    assert "gfx942" in facts["gpu 1"].text and "304 CU" in facts["gpu 1"].text and "192 GiB" in facts["gpu 1"].text
    assert "Instinct MI300X" in facts["gpu 1"].text
    assert facts["driver"].text == "amdgpu 6.16.6"


def test_a_card_without_its_driver_asks_for_the_module(tmp_path):
    add_card(tmp_path)
    facts = by_name(examine_driver(tmp_path))
    assert facts["driver"].status == "warning" and "modprobe amdgpu" in facts["driver"].help


def test_in_a_container_the_driver_is_the_hosts_and_devices_are_given_at_its_start(tmp_path):
    add_card(tmp_path)
    write(tmp_path / ".dockerenv")
    facts = by_name(examine_driver(tmp_path))
    assert facts["driver"].help.startswith("on the host")
    assert "--device /dev/kfd --device /dev/dri" in facts["/dev/kfd"].help


@pytest.mark.parametrize("words", ["12:pids:/docker/abc", "0::/kubepods/besteffort/pod1", "0::/libpod-77"])
def test_containers_are_known_by_their_control_group(tmp_path, words):
    write(tmp_path / "proc/1/cgroup", words)
    assert in_container(tmp_path) and not in_container(tmp_path / "elsewhere")


@pytest.mark.parametrize("contained", [False, True])
def test_a_device_file_that_may_not_be_opened_names_group_and_command(tmp_path, monkeypatch, contained):
    healthy(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("kfd"))
    if contained:
        write(tmp_path / "run/.containerenv")
    facts = by_name(examine_driver(tmp_path))
    assert facts["/dev/kfd"].status == "warning" and facts["/dev/dri/renderD129"].status == "ok"
    expected = f"--group-add {(tmp_path / 'dev/kfd').stat().st_gid}" if contained else "sudo usermod -aG"
    assert expected in facts["/dev/kfd"].help


def test_a_gpu_without_its_render_file_is_told(tmp_path):
    healthy(tmp_path)
    (tmp_path / "dev/dri/renderD129").unlink()
    assert by_name(examine_driver(tmp_path))["/dev/dri/renderD129"].status == "warning"


@pytest.mark.parametrize(("name", "value"), [("HIP_VISIBLE_DEVICES", "-1"), ("ROCR_VISIBLE_DEVICES", "")])
def test_a_variable_that_hides_all_gpus_is_told(tmp_path, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert by_name(examine_driver(healthy(tmp_path)))[name].help == f"unset {name}"


def test_a_forced_version_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0")
    assert by_name(examine_driver(healthy(tmp_path)))["HSA_OVERRIDE_GFX_VERSION"].status == "warning"


@pytest.mark.parametrize(
    ("nodes", "line", "status"), [(1, "quiet", None), (2, "quiet", "warning"), (2, "quiet iommu=pt", "ok")]
)
def test_an_iommu_matters_with_several_gpus(tmp_path, nodes, line, status):
    healthy(tmp_path, nodes)
    write(tmp_path / "sys/class/iommu/ivhd0/devices")
    write(tmp_path / "proc/cmdline", line + "\n")
    found = by_name(examine_driver(tmp_path)).get("iommu")
    assert (found and found.status) == status


def test_an_architecture_that_amd_lists_nowhere_is_told(tmp_path):
    facts = by_name(examine_driver(healthy(tmp_path, version=90300)))
    assert facts["gpu 1"].status == "warning" and "gfx930" in facts["gpu 1"].text


def test_a_gpu_without_rocm_asks_for_the_runtime(tmp_path):
    (fact,) = examine_rocm(nodes_of(healthy(tmp_path)), tmp_path)
    assert fact.status == "warning" and "hip-runtime-amd" in fact.help


def test_rocm_that_lists_the_gpu_is_all_right(tmp_path):
    add_rocm(healthy(tmp_path), "7.0.2", tuple(LIBRARIES))
    facts = by_name(examine_rocm(nodes_of(tmp_path), tmp_path))
    assert {fact.status for fact in facts.values()} == {"ok"}
    assert "7.0.2" in facts["runtime"].text and "2.8" in facts["gfx942"].text


@pytest.mark.parametrize(
    ("rocm", "version", "words"), [("6.3.1", 90500, "install ROCm 7.0 "), ("7.1.0", 100301, "it may work")]
)
def test_rocm_that_does_not_list_the_gpu_says_which_does(tmp_path, rocm, version, words):
    add_rocm(healthy(tmp_path, version=version), rocm, tuple(LIBRARIES))
    (fact,) = (f for f in examine_rocm(nodes_of(tmp_path), tmp_path) if f.name.startswith("gfx"))
    assert fact.status == "warning" and words in fact.help


def test_a_release_that_no_source_tells_of_is_not_judged(tmp_path):
    add_rocm(healthy(tmp_path), "7.12.0", tuple(LIBRARIES))
    assert by_name(examine_rocm(nodes_of(tmp_path), tmp_path))["gfx942"].status == "absent"


def test_an_old_rocm_is_told(tmp_path):
    add_rocm(healthy(tmp_path), "5.7.1", tuple(LIBRARIES))
    assert "6.0" in by_name(examine_rocm(nodes_of(tmp_path), tmp_path))["runtime"].help


@pytest.mark.parametrize("folder", ["lib/rocblas/library", "lib/x86_64-linux-gnu/rocblas/4.4.1/library"])
@pytest.mark.parametrize(("has", "told"), [("gfx90a", True), ("gfx942", False)])
def test_a_rocblas_without_kernels_for_the_gpu_is_told(tmp_path, folder, has, told):
    """Debian's has none for gfx942: a handle is made, and the first product ends the program."""
    add_rocm(healthy(tmp_path), "6.4.1", tuple(LIBRARIES))
    write(tmp_path / "opt/rocm" / folder / f"TensileLibrary_lazy_{has}.dat")
    write(tmp_path / "opt/rocm" / folder / "TensileLibrary_lazy_gfx1030.dat")
    found = [f for f in examine_rocm(nodes_of(tmp_path), tmp_path) if "TensileLibrary_lazy_gfx942.dat" in f.text]
    assert bool(found) == told and all(f.status == "warning" and "rocblas" in f.help for f in found)


def test_missing_libraries_are_named_with_their_packages(tmp_path):
    add_rocm(healthy(tmp_path), "7.0.0", tuple(name for name in LIBRARIES if name not in ("libMIOpen", "librccl")))
    fact = by_name(examine_rocm(nodes_of(tmp_path), tmp_path))["libraries"]
    assert fact.status == "warning" and fact.help == "sudo apt install miopen-hip rccl"


def test_the_newest_of_several_installations_without_a_link_is_found(tmp_path):
    for version in ("6.4.1", "7.0.2", "6.10.0"):
        write(tmp_path / f"opt/rocm-{version}/lib/libamdhip64.so.7")
    assert find_rocm(tmp_path).version == "7.0.2"


def torch(root, version, architectures=()):
    write(root / "torch/version.py", version)
    for name in architectures:
        write(root / f"torch/lib/rocblas/library/TensileLibrary_lazy_{name}.dat")
    return root / "torch"


def test_pytorch_without_rocm_is_told_where_a_gpu_is(tmp_path):
    found = nodes_of(healthy(tmp_path))
    (fact,) = examine_torch(found, torch(tmp_path, "hip: Optional[str] = None\ncuda = '12.6'\n"))
    assert fact.status == "warning" and "rocmX.Y" in fact.help


@pytest.mark.parametrize(("has", "status"), [(("gfx90a", "gfx942"), "ok"), (("gfx90a", "gfx1100"), "warning")])
def test_pytorch_is_judged_by_the_architectures_that_it_has_code_for(tmp_path, has, status):
    found = nodes_of(healthy(tmp_path))
    place = torch(tmp_path, "hip: Optional[str] = '6.4.43482'\n", has)
    assert architectures_of(place) == frozenset(has)
    (fact,) = examine_torch(found, place)
    assert fact.status == status and (status == "ok" or "gfx1100, gfx90a" in fact.text)


def test_cards_are_amds_display_controllers_and_accelerators_only(tmp_path):
    add_card(tmp_path, "0000:01:00.0", "0x030000")
    add_card(tmp_path, "0000:02:00.0", "0x060400")  # a bridge
    add_card(tmp_path, "0000:03:00.0", "0x030000", vendor="0x10de")
    assert cards_on_bus(tmp_path) == ("0000:01:00.0",)
