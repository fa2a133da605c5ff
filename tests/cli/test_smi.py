"""`anywarp smi`: the pages that scripts read."""

import os
import re
import subprocess
import sys
from datetime import datetime
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner

from anywarp.cli import smi, smi_pages, smi_query
from anywarp.runtime.management import DeviceState, MachineState, Process

GIB = 1 << 30
NOW = datetime(2026, 3, 4, 5, 6, 7)


def device(index, **more):
    known = {
        "index": index,
        "name": "anywarp CPU (a processor with a rather long name)",
        "uuid": f"GPU-0000000{index}-1111-2222-3333-444444444444",
        "bus": f"00000000:{index:02X}:00.0",
        "capability": "8.0",
        "total": 16 * GIB,
        "used": 3 * GIB // 2,
        "free": 16 * GIB - 3 * GIB // 2,
        "reserved": 0,
        "busy": 37,
        "memory_busy": 36,
        "temperature": None,
        "power": 12.5,
        "power_limit": None,
        "clock": 2600,
        "clock_limit": None,
        "processes": (),
    }
    return DeviceState(**{**known, **more})


STATE = MachineState("580.00", "13.0", (device(0), device(1, processes=(Process(4711, "/usr/bin/python3", GIB),))))


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    monkeypatch.setattr(smi, "look", lambda: STATE)


def run(*arguments):
    result = CliRunner().invoke(smi.command, list(arguments), standalone_mode=False)
    if isinstance(result.exception, click.ClickException):
        return 2, result.exception.message
    assert result.exception is None, result.exception
    return result.return_value, result.output


def test_the_default_screen_is_a_box_of_one_width():
    status, text = run()
    lines = text.splitlines()[1:]
    assert status == 0 and {len(line) for line in lines if line} == {91}
    assert "Driver Version: 580.00" in text and "CUDA Version: 13.0" in text
    assert re.search(r"\| +1536MiB / +16384MiB \| +37% +Default \|", text)
    assert re.search(r"\| +1 +N/A +N/A +4711 +C +/usr/bin/python3 +1024MiB \|", text)


def test_no_process_is_said():
    text = smi_pages.screen(MachineState("1", "13.0", (device(0),)), NOW)
    assert "No running processes found" in text


def test_devices_are_listed_one_a_line():
    assert run("-L")[1].splitlines() == [f"GPU {d.index}: {d.name} (UUID: {d.uuid})" for d in STATE.devices]


def test_properties_come_as_values_with_units_or_without():
    fields = "--query-gpu=index,memory.used,utilization.gpu,power.draw,fan.speed,compute_cap"
    assert run(fields, "--format=csv")[1].splitlines() == [
        "index, memory.used [MiB], utilization.gpu [%], power.draw [W], fan.speed, compute_cap",
        "0, 1536 MiB, 37 %, 12.50 W, [N/A], 8.0",
        "1, 1536 MiB, 37 %, 12.50 W, [N/A], 8.0",
    ]
    assert run(fields, "--format=csv,noheader,nounits")[1].splitlines()[0] == "0, 1536, 37, 12.50, [N/A], 8.0"


def test_processes_come_as_values():
    assert run("--query-compute-apps=pid,process_name,used_memory", "--format=csv,noheader")[1] == (
        "4711, /usr/bin/python3, 1024 MiB\n"
    )


def test_one_device_is_chosen_by_number_uuid_or_bus():
    for name in ("1", STATE.devices[1].uuid, "00000000:01:00.0", "0000:01:00.0"):
        assert run("-i", name, "--query-gpu=index", "--format=csv,noheader")[1] == "1\n"
    assert run("-i", "7", "-L")[0] == 6


def test_an_unknown_property_and_a_missing_format_are_refused():
    assert run("--query-gpu=name,nonsense", "--format=csv") == (2, 'Field "nonsense" is not a valid field to query.')
    assert run("--query-gpu=name")[0] == 2
    assert run("dmon")[0] == 2


def test_every_property_that_is_listed_has_a_value():
    names = [line.strip('"') for line in run("--help-query-gpu")[1].splitlines()]
    assert len(names) == len(smi_query.GPU_FIELDS) > 80
    row = run(f"--query-gpu={','.join(names)}", "--format=csv,noheader")[1].splitlines()[0]
    assert len(row.split(", ")) == len(names)


def test_the_long_page_as_text_and_as_xml():
    text = run("-q")[1]
    assert re.search(r"Attached GPUs +: 2\nGPU 00000000:00:00.0", text)
    assert re.search(r"FB Memory Usage\n +Total +: 16384 MiB\n", text)
    root = ElementTree.fromstring(run("-q", "-x")[1])
    assert root.findtext("attached_gpus") == "2" and [g.get("id") for g in root.iter("gpu")] == [
        d.bus for d in STATE.devices
    ]
    assert [g.findtext("fb_memory_usage/used") for g in root.iter("gpu")] == ["1536 MiB"] * 2
    assert root.findtext("gpu[2]/processes/process_info/pid") == "4711"
    assert root.findtext("gpu/utilization/gpu_util") == "37 %" and root.findtext("gpu/clocks/sm_clock") == "2600 MHz"


def test_only_the_sections_asked_for():
    text = run("-q", "-d", "MEMORY")[1]
    assert "FB Memory Usage" in text and "Clocks" not in text


def test_the_page_goes_to_a_file(tmp_path):
    assert run("-L", "-f", str(tmp_path / "page"))[0] == 0
    assert (tmp_path / "page").read_text().count("\n") == 2


@pytest.mark.native
def test_a_management_library_that_cannot_start_is_told_without_a_traceback(monkeypatch):
    from anywarp.runtime import launch

    if not (launch.folder_for("hip") / "libnvidia-ml.so.1").exists():
        pytest.skip("the library for AMD GPUs is not built")
    done = subprocess.run(
        [sys.executable, "-m", "anywarp", "smi", "-L"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "ANYWARP_DEVICE": "hip", "LD_LIBRARY_PATH": "/nowhere"},
    )
    assert done.returncode == 2 and "R029" in done.stderr and "Traceback" not in done.stderr
