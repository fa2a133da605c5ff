"""NVML answered by amdsmi: values and units, asked through NVIDIA's own Python binding."""

import subprocess

import pytest

from anywarp import settings
from fakes.rocm import amdsmi
from native.rocm_program import run

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        not (settings.LIBRARY_DIR.get() / "hip" / "libnvidia-ml.so.1").exists(),
        reason="the libraries for hip are not built",
    ),
]

OPEN = """
import pynvml as n
n.nvmlInit()
big, small = n.nvmlDeviceGetHandleByIndex(0), n.nvmlDeviceGetHandleByIndex(1)
def code(call, *arguments):
    try: return call(*arguments)
    except n.NVMLError as error: return -error.value
"""


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    return amdsmi.build_all(tmp_path_factory.mktemp("fakes"))


@pytest.fixture
def ask(fakes, tmp_path):
    return lambda code, **more: run(OPEN + code, fakes, tmp_path, site=True, **more).out


def test_devices_come_in_the_order_of_the_bus_with_their_names(ask):
    out = ask("""
out["count"] = n.nvmlDeviceGetCount()
for each in (big, small):
    pci = n.nvmlDeviceGetPciInfo(each)
    out[n.nvmlDeviceGetName(each)] = [pci.busId, pci.domain, pci.bus, pci.device, n.nvmlDeviceGetIndex(each), n.nvmlDeviceGetUUID(each)]
out["found"] = [n.nvmlDeviceGetIndex(n.nvmlDeviceGetHandleByPciBusId("0001:E5:00.1")), n.nvmlDeviceGetIndex(n.nvmlDeviceGetHandleByUUID(n.nvmlDeviceGetUUID(big)))]
out["missing"] = code(n.nvmlDeviceGetHandleByPciBusId, "0001:E5:00.0")
out["driver"] = n.nvmlSystemGetDriverVersion()
""")
    # HIP's 16 bytes are characters: 0 is 0x30, a is 0x61.
    assert out == {
        "count": 2,
        "AMD Instinct MI300X": ["00000001:0C:03.0", 1, 12, 3, 0, "GPU-30313233-3435-3637-3839-616263646566"],
        "AMD Radeon RX 7900 XTX": ["00000001:E5:00.1", 1, 229, 0, 1, "GPU-ffff74a1-0000-1000-8011-000000000002"],
        "found": [1, 0],
        "missing": -6,
        "driver": "6.14.14",
    }


def test_values_have_the_units_of_nvml(ask):
    out = ask("""
memory = n.nvmlDeviceGetMemoryInfo(big)
out["memory"] = [memory.total, memory.used, memory.free]
out["bar1"] = [n.nvmlDeviceGetBAR1MemoryInfo(big).bar1Total, n.nvmlDeviceGetBAR1MemoryInfo(big).bar1Used]
rates = n.nvmlDeviceGetUtilizationRates(big)
out["rates"] = [rates.gpu, rates.memory]
out["power"] = [n.nvmlDeviceGetPowerUsage(big), n.nvmlDeviceGetPowerUsage(small), n.nvmlDeviceGetEnforcedPowerLimit(big), n.nvmlDeviceGetPowerManagementLimitConstraints(big)]
out["energy"] = n.nvmlDeviceGetTotalEnergyConsumption(big)
out["clocks"] = [n.nvmlDeviceGetClockInfo(big, kind) for kind in (0, 1, 2)] + [n.nvmlDeviceGetMaxClockInfo(big, 2), code(n.nvmlDeviceGetClockInfo, big, 3)]
out["heat"] = [n.nvmlDeviceGetTemperature(big, 0), n.nvmlDeviceGetTemperature(small, 0), n.nvmlDeviceGetTemperatureThreshold(small, 0), n.nvmlDeviceGetTemperatureThreshold(small, 1)]
out["fan"] = [code(n.nvmlDeviceGetFanSpeed, big), n.nvmlDeviceGetFanSpeed(small)]
out["pcie"] = [n.nvmlDeviceGetCurrPcieLinkGeneration(big), n.nvmlDeviceGetCurrPcieLinkWidth(big), n.nvmlDeviceGetMaxPcieLinkGeneration(big), n.nvmlDeviceGetMaxPcieLinkWidth(big), n.nvmlDeviceGetPcieReplayCounter(big)]
out["errors"] = [n.nvmlDeviceGetTotalEccErrors(big, 0, 0), n.nvmlDeviceGetTotalEccErrors(big, 1, 0), code(n.nvmlDeviceGetTotalEccErrors, big, 1, 1)]
out["processes"] = [[p.pid, p.usedGpuMemory] for p in n.nvmlDeviceGetComputeRunningProcesses(big)]
field = n.nvmlDeviceGetFieldValues(big, [83, 82, 1])
out["fields"] = [field[0].value.ullVal, field[1].value.uiVal, field[2].nvmlReturn]
""")
    mib = 1 << 20
    assert out["memory"] == [196592 * mib, 1234 * mib, (196592 - 1234) * mib]
    assert out["bar1"] == [256 << 30, 3 << 20]
    assert out["rates"] == [73, 41]
    assert out["power"] == [611_000, 333_000, 750_000, [0, 760_000]]
    assert out["energy"] == 30_500  # 2,000,000 ticks of 15.25 microjoules
    assert out["clocks"] == [1000, 1000, 1004, 2004, -3]
    assert out["heat"] == [45, 40, 110, 100]
    assert out["fan"] == [-3, 40]  # 102 of 255
    assert out["pcie"] == [4, 8, 5, 16, 77]
    assert out["errors"] == [11, 3, -3]
    assert out["processes"] == [[4321, 7 << 30], [99, 512 << 20]]
    assert out["fields"] == [30_500, 50, 3]


def test_cards_reach_each_other_by_links_where_there_are_links(ask):
    code = 'out["p2p"] = [n.nvmlDeviceGetP2PStatus(big, small, index) for index in range(5)]\nout["level"] = n.nvmlDeviceGetTopologyCommonAncestor(big, small)'
    assert ask(code) == {"p2p": [0, 0, 0, 0, 0], "level": 50}
    assert ask(code, FAKE_SMI_PCIE="1")["p2p"] == [0, 0, 5, 0, 0]


def test_what_amdsmi_does_not_answer_is_not_supported(ask):
    assert ask(
        'out["v"] = [code(n.nvmlDeviceGetNvLinkState, big, 0), code(n.nvmlDeviceGetMigMode, big), code(n.nvmlDeviceSetPersistenceMode, big, 1)]'
    ) == {"v": [-3, -3, -3]}


def test_a_machine_without_the_driver_or_the_library_says_so(fakes, tmp_path):
    code = "import pynvml as n\ntry: n.nvmlInit()\nexcept n.NVMLError as error: out['code'] = error.value"
    assert run(code, fakes, tmp_path, site=True, FAKE_SMI_NO_DRIVER="1").out == {"code": 9}
    empty = tmp_path / "empty"
    empty.mkdir()
    answer = run(code, empty, tmp_path, site=True)
    assert answer.out == {"code": 12} and "error[N027]" in answer.errors and "amd-smi-lib" in answer.errors


@pytest.mark.parametrize(("driver", "code"), [(False, 9), (True, 0)])
def test_a_program_for_rocm_finds_no_driver_of_nvidias(fakes, tmp_path, driver, code):
    """vLLM refuses to start where NVML and amdsmi both have devices; a program that has our driver is one for CUDA."""
    (tmp_path / "empty.c").write_text("int nothing;")
    hip = tmp_path / "libamdhip64.so.6"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "empty.c", "-o", hip, "-Wl,-soname,libamdhip64.so.6"], check=True, cwd=tmp_path
    )
    text = f"""
import ctypes, pynvml as n
out["code"] = 0
ctypes.CDLL({str(hip)!r})
if {driver}: ctypes.CDLL("libcuda.so.1")
try: n.nvmlInit()
except n.NVMLError as error: out["code"] = error.value
"""
    assert run(text, fakes, tmp_path, site=True).out == {"code": code}


def test_nvidia_smi_shows_the_cards(fakes, tmp_path):
    code = """
from anywarp.runtime.management import look
state = look()
out["driver"] = state.driver
out["devices"] = [[d.name, d.bus, d.capability, d.total >> 20, d.busy, d.temperature, d.power, d.power_limit, d.clock, [p.pid for p in d.processes]] for d in state.devices]
"""
    out = run(code, fakes, tmp_path, site=True, ANYWARP_DEVICE="hip").out
    assert out["driver"] == "6.14.14"
    assert out["devices"] == [
        ["AMD Instinct MI300X", "00000001:0C:03.0", "8.0", 196592, 73, 45, 611.0, 750.0, 1000, [4321, 99]],
        ["AMD Radeon RX 7900 XTX", "00000001:E5:00.1", "8.0", 24560, 73, 40, 333.0, 750.0, 1000, []],
    ]
