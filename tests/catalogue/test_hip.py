"""The tables of the driver over HIP: every function has an answer, and what is passed through unconverted is the same there."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from anywarp.catalogue import generate_hip
from anywarp.catalogue.load import DATA, load

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "native"
HEADERS = Path(generate_hip.__file__).parents[1] / "toolchain" / "include" / "13"

ANSWERS = generate_hip.load_answers(DATA / "rocm" / "cuda_hip.tsv")
COUNTERPARTS = generate_hip.hip_prototypes((NATIVE / "hip" / "hip_api.h").read_text(encoding="utf-8"))
SIGNATURES = generate_hip.signatures(DATA / "cuda_signatures.tsv")

# Enumerators of CUDA and the HIP ones that have to have the same value.
SAME = {
    "CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES": "hipMemPoolReuseFollowEventDependencies",
    "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD": "hipMemPoolAttrReleaseThreshold",
    "CU_MEMPOOL_ATTR_USED_MEM_HIGH": "hipMemPoolAttrUsedMemHigh",
    "CU_STREAM_CAPTURE_MODE_GLOBAL": "hipStreamCaptureModeGlobal",
    "CU_STREAM_CAPTURE_MODE_RELAXED": "hipStreamCaptureModeRelaxed",
    "CU_STREAM_CAPTURE_STATUS_ACTIVE": "hipStreamCaptureStatusActive",
    "CU_STREAM_CAPTURE_STATUS_INVALIDATED": "hipStreamCaptureStatusInvalidated",
    "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR": "hipMemHandleTypePosixFileDescriptor",
    "CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT": "hipGraphMemAttrUsedMemCurrent",
    "CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH": "hipGraphMemAttrReservedMemHigh",
    "CU_MEM_ALLOC_GRANULARITY_RECOMMENDED": "hipMemAllocationGranularityRecommended",
    "CU_MEM_LOCATION_TYPE_DEVICE": "hipMemLocationTypeDevice",
    "CU_MEM_LOCATION_TYPE_HOST": "hipMemLocationTypeHost",
    "CU_MEM_ADVISE_SET_READ_MOSTLY": "hipMemAdviseSetReadMostly",
    "CU_MEM_ADVISE_UNSET_ACCESSED_BY": "hipMemAdviseUnsetAccessedBy",
    "CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION": "hipMemRangeAttributeLastPrefetchLocation",
    "CU_STREAM_MEM_OP_WAIT_VALUE_64": "hipStreamMemOpWaitValue64",
    "CU_STREAM_MEM_OP_BARRIER": "hipStreamMemOpBarrier",
    "CU_GRAPH_NODE_TYPE_MEM_FREE": "hipGraphNodeTypeMemFree",
    "CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE": "hipGraphExecUpdateErrorUnsupportedFunctionChange",
    "CU_LAUNCH_ATTRIBUTE_PRIORITY": "hipLaunchAttributePriority",
    "CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY": "hipGraphInstantiateFlagUseNodePriority",
    "CU_EVENT_INTERPROCESS": "hipEventInterprocess",
    "CU_EVENT_DISABLE_TIMING": "hipEventDisableTiming",
    "CU_MEMHOSTALLOC_WRITECOMBINED": "hipHostMallocWriteCombined",
}


def test_every_function_has_one_answer():
    table = load(DATA / "cuda.tsv")
    assert set(ANSWERS) == {row.name for row in table.rows}
    lost = [row.name for row in table.rows if row.route != "absent" and ANSWERS[row.name].route == "absent"]
    assert len(lost) <= 25, lost


def test_a_forwarded_function_has_a_counterpart_with_as_many_parameters():
    forwarded = [answer for answer in ANSWERS.values() if answer.route == "forward"]
    assert len(forwarded) > 90
    for answer in forwarded:
        assert generate_hip.forward(answer, SIGNATURES[answer.name], COUNTERPARTS)


def test_what_no_rule_converts_stops_the_build():
    answer = generate_hip.Answer("cuEventRecord", "forward", "hipEventRecord", True, "")
    with pytest.raises(generate_hip.TableError, match="no rule makes 'hipEvent_t' of 'CUgraph'"):
        generate_hip.forward(answer, "CUgraph hEvent, CUstream hStream", COUNTERPARTS)
    with pytest.raises(generate_hip.TableError, match="has 1 parameters"):
        generate_hip.forward(answer, "CUevent hEvent", COUNTERPARTS)


def test_a_device_is_renumbered_and_a_stream_looked_at():
    answer = generate_hip.Answer("cuDeviceGetMemPool", "forward", "hipDeviceGetMemPool", True, "")
    assert "hip_device(dev)" in generate_hip.forward(answer, SIGNATURES["cuDeviceGetMemPool"], COUNTERPARTS)
    answer = generate_hip.Answer("cuMemFreeAsync", "forward", "hipFreeAsync", True, "")
    assert "stream_for(hStream)" in generate_hip.forward(answer, SIGNATURES["cuMemFreeAsync"], COUNTERPARTS)


def members(name: str, text: str) -> list[str]:
    body = re.search(r"typedef (?:struct|union)[^{;]*\{([^{}]*)\}\s*" + name + ";", text)
    return re.findall(r"(\w+)\s*(?:\[[^\]]*\])?\s*;", body[1]) if body else []


@pytest.mark.skipif(not shutil.which("g++"), reason="needs a C++ compiler")
def test_what_is_passed_through_has_the_same_layout_and_values(tmp_path):
    lines = ["#include <cstddef>", "#include <cuda.h>", '#include "hip/hip_api.h"']
    for mine, theirs in generate_hip.SAME_LAYOUT.items():
        lines.append(f'static_assert(sizeof({mine}) == sizeof({theirs}), "{mine}");')
        lines.append(f'static_assert(alignof({mine}) == alignof({theirs}), "{mine}");')
    for mine, theirs in SAME.items():
        lines.append(f'static_assert(int({mine}) == int({theirs}), "{mine}");')
    # Members by place, where a mistake would go unseen by the sizes.
    for pair in (
        ("CUmemAllocationProp", "location", "hipMemAllocationProp", "location"),
        ("CUmemPoolProps", "maxSize", "hipMemPoolProps", "maxSize"),
        ("CUmemAccessDesc", "flags", "hipMemAccessDesc", "flags"),
        ("CUDA_HOST_NODE_PARAMS", "userData", "hipHostNodeParams", "userData"),
        ("CUDA_EXTERNAL_MEMORY_BUFFER_DESC", "size", "hipExternalMemoryBufferDesc", "size"),
        ("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "size", "hipExternalMemoryHandleDesc", "size"),
        ("CUDA_EXTERNAL_MEMORY_HANDLE_DESC", "flags", "hipExternalMemoryHandleDesc", "flags"),
        ("CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC", "flags", "hipExternalSemaphoreHandleDesc", "flags"),
        ("CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS", "flags", "hipExternalSemaphoreSignalParams", "flags"),
        ("CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS", "flags", "hipExternalSemaphoreWaitParams", "flags"),
        ("CUDA_EXT_SEM_SIGNAL_NODE_PARAMS", "numExtSems", "hipExternalSemaphoreSignalNodeParams", "numExtSems"),
        ("CUDA_MEM_ALLOC_NODE_PARAMS", "dptr", "hipMemAllocNodeParams", "dptr"),
        ("CUDA_MEM_ALLOC_NODE_PARAMS", "bytesize", "hipMemAllocNodeParams", "bytesize"),
        ("CUDA_BATCH_MEM_OP_NODE_PARAMS", "paramArray", "hipBatchMemOpNodeParams", "paramArray"),
        ("CUstreamBatchMemOpParams", "waitValue.flags", "hipStreamBatchMemOpParams", "waitValue.flags"),
    ):
        lines.append("static_assert(offsetof({}, {}) == offsetof({}, {}));".format(*pair))
    source = tmp_path / "same.cpp"
    source.write_text("\n".join(lines) + "\n")
    command = [
        "g++",
        "-std=c++20",
        "-fsyntax-only",
        "-Wno-invalid-offsetof",
        f"-I{HEADERS}",
        f"-I{NATIVE}",
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, "\n".join(line for line in done.stderr.split("\n") if "error" in line)
