"""What a report of a problem says of AMD GPUs: from made-up machines."""

import json

from anywarp.devices.hip.description import describe
from devices.hip import machines


def machine(root):
    machines.add_processor(root)
    machines.add_node(root, 1, 90402, name="Instinct MI300X")
    machines.add_node(root, 2, 110000, lanes=32, units=48, gib=48)
    machines.add_rocm(root, "6.4.1", ("libamdhip64", "librccl"))
    machines.write(root / "opt/rocm/lib/libamdhip64.so.6.4.60401")
    machines.write(root / "sys/module/amdgpu/version", "6.12.12\n")
    machines.write(root / "sys/module/amdgpu/parameters/noretry", "1\n")
    machines.write(root / "sys/module/amdgpu/parameters/secret", "1\n")
    machines.write(root / "sys/class/drm/card1/device/fw_version/mec_fw_version", "0x00000098\n")
    machines.write(root / "etc/os-release", 'NAME="x"\nPRETTY_NAME="Debian GNU/Linux 13 (trixie)"\n')
    return describe(root)


def test_gpus_are_described_in_full_but_for_their_own_number(tmp_path):
    found = machine(tmp_path)
    assert [(gpu["architecture"], gpu["wave_front_size"]) for gpu in found["gpus"]] == [("gfx942", 64), ("gfx1100", 32)]
    assert found["gpus"][0]["name"] == "Instinct MI300X" and found["gpus"][0]["simd_count"] == 1216
    assert "18446744073709551615" not in json.dumps(found)


def test_driver_firmware_and_libraries_are_told_with_their_versions(tmp_path):
    found = machine(tmp_path)
    assert found["driver"]["version"] == "6.12.12" and found["driver"]["parameters"] == {"noretry": "1"}
    assert found["firmware"] == [{"mec": "0x00000098"}]
    assert found["rocm"]["libraries"] == ["libamdhip64.so.1", "libamdhip64.so.6.4.60401", "librccl.so.1"]
    assert found["distribution"] == "Debian GNU/Linux 13 (trixie)"


def test_a_machine_without_any_of_it_is_described_too(tmp_path):
    found = describe(tmp_path)
    assert (
        found["gpus"] == [] and found["rocm"] is None and found["firmware"] == [] and found["driver"]["version"] == ""
    )


def test_properties_that_are_no_numbers_are_left_out(tmp_path):
    machines.add_node(tmp_path, 1, 90402)
    path = tmp_path / "sys/class/kfd/kfd/topology/nodes/1/properties"
    path.write_bytes(path.read_bytes() + b"odd\nname with words\nhex 0x10\n\xff\xfe 1\n")
    [gpu] = describe(tmp_path)["gpus"]
    assert gpu["architecture"] == "gfx942" and "hex" not in gpu and "name with words" not in gpu
