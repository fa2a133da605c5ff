"""torch.profiler on `cuda`: tables and the Chrome trace tell what ran on the device, as Kineto writes it of a card."""

import json

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, supported_activities

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return the profile of two products, a copy to the device and one back, and its Chrome trace."""
    a = torch.randn(64, 64)
    torch.ones(1, device="cuda")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        there = a.to("cuda")
        for _ in range(2):
            there = there @ there
        there.cpu()
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.ones(3, device="cuda").sin_()
    path = tmp_path_factory.mktemp("profile") / "trace.json"
    prof.export_chrome_trace(str(path))
    return prof, json.loads(path.read_text())


def of(trace, *categories):
    return [each for each in trace["traceEvents"] if each.get("cat") in categories and each.get("ph") == "X"]


def test_cuda_is_an_activity_that_is_supported():
    assert ProfilerActivity.CUDA in supported_activities()


def test_the_trace_tells_the_device(recorded):
    [device] = recorded[1]["deviceProperties"][:1]
    real = torch.cuda.get_device_properties(0)
    assert device["name"] == real.name and device["totalGlobalMem"] == real.total_memory
    assert (device["computeMajor"], device["computeMinor"], device["warpSize"]) == (real.major, real.minor, 32)
    assert device["numSms"] == real.multi_processor_count


def test_kernels_lie_on_streams_and_belong_to_launches(recorded):
    trace = recorded[1]
    kernels = of(trace, "kernel")
    assert sum("mm" in each["name"] for each in kernels) == 2
    launches = {each["args"]["correlation"]: each for each in of(trace, "cuda_runtime")}
    for each in of(trace, "kernel", "gpu_memcpy"):
        assert each["pid"] == each["args"]["device"] == 0 and each["tid"] == each["args"]["stream"]
        launch = launches[each["args"]["correlation"]]
        assert launch["ts"] <= each["ts"] and launch["name"] in ("cudaLaunchKernel", "cudaMemcpyAsync")
    assert len({each["tid"] for each in kernels}) == 2  # the default stream, and the other one
    assert {7} == {each["tid"] for each in kernels if "mm" in each["name"]}


def test_flows_lead_from_the_host_to_the_device(recorded):
    flows = [each for each in recorded[1]["traceEvents"] if each.get("cat") == "ac2g"]
    starts = {each["id"] for each in flows if each["ph"] == "s"}
    ends = {each["id"] for each in flows if each["ph"] == "f"}
    assert ends and ends <= starts
    assert len(ends) == len(of(recorded[1], "kernel", "gpu_memcpy"))


def test_copies_have_their_bytes(recorded):
    copies = {each["name"]: each["args"]["bytes"] for each in of(recorded[1], "gpu_memcpy")}
    assert copies["Memcpy HtoD (Pageable -> Device)"] == 64 * 64 * 4
    assert copies["Memcpy DtoH (Device -> Pageable)"] == 64 * 64 * 4


def test_work_belongs_to_the_operators_that_asked_for_it(recorded):
    prof, trace = recorded
    operators = {each["args"].get("External id"): each["name"] for each in of(trace, "cpu_op")}
    asked = {operators.get(each["args"].get("External id")) for each in of(trace, "kernel") if "mm" in each["name"]}
    assert asked == {"aten::mm"}
    rows = {each.key: each for each in prof.key_averages()}
    assert rows["aten::mm"].count == 2 and rows["aten::mm"].device_time_total > 0
    spans = [each["dur"] for each in of(trace, "kernel") if "mm" in each["name"]]
    assert rows["aten::mm"].device_time_total == pytest.approx(sum(spans), abs=1)


def test_nothing_is_recorded_without_being_asked_for():
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        torch.ones(3, device="cuda").sin_()
    assert all(each.device_time_total == 0 for each in prof.key_averages())
