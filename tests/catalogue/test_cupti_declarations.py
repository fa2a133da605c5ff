"""Our headers of CUPTI lay records out as libcupti writes them, whose layouts were written down apart from theirs (native/cupti/records.h)."""

import subprocess
from pathlib import Path

import pytest

from anywarp.toolchain import clang, compile_commands

NATIVE = Path(__file__).resolve().parents[2] / "native"

RECORDS = """
#include <cupti.h>
#include "cupti/records.h"
using namespace aw::cupti;
#define SAME(T, member, Ours, own) static_assert(offsetof(T, member) == offsetof(Ours, own), #T "." #member);
#define WHOLE(T, Ours) static_assert(sizeof(T) == sizeof(Ours), #T);
WHOLE(CUpti_ActivityKernel13, KernelRecord)
SAME(CUpti_ActivityKernel13, start, KernelRecord, start)
SAME(CUpti_ActivityKernel13, gridX, KernelRecord, grid)
SAME(CUpti_ActivityKernel13, blockX, KernelRecord, block)
SAME(CUpti_ActivityKernel13, correlationId, KernelRecord, correlation)
SAME(CUpti_ActivityKernel13, name, KernelRecord, name)
SAME(CUpti_ActivityKernel13, queued, KernelRecord, queued)
SAME(CUpti_ActivityKernel13, graphNodeId, KernelRecord, graph_node)
SAME(CUpti_ActivityKernel13, channelType, KernelRecord, channel_type)
WHOLE(CUpti_ActivityMemcpy7, MemcpyRecord)
SAME(CUpti_ActivityMemcpy7, bytes, MemcpyRecord, bytes)
SAME(CUpti_ActivityMemcpy7, copyKind, MemcpyRecord, copy_kind)
WHOLE(CUpti_ActivityMemset5, MemsetRecord)
SAME(CUpti_ActivityMemset5, value, MemsetRecord, value)
WHOLE(CUpti_ActivityGraphTrace2, GraphRecord)
WHOLE(CUpti_ActivityExternalCorrelation, ExternalRecord)
SAME(CUpti_ActivityExternalCorrelation, externalId, ExternalRecord, external)
static_assert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == +kConcurrentKernel && CUPTI_ACTIVITY_KIND_GRAPH_TRACE == +kGraphTrace, "kinds");
static_assert(sizeof(CUpti_ActivityPCSamplingConfig) == 16 && alignof(CUpti_Activity) == 8, "aligned as buffers are");
static_assert(CUPTI_API_VERSION == 130500 && sizeof(CUpti_ActivityKernel9) == 208, "13.5");
"""


def compiled(language, folder, text, *words):
    source = folder / f"checked.{language}"
    source.write_text(text)
    folders = [f"-I{place}" for place in compile_commands.FOLDERS]
    found = clang.find()
    kind = ["-x", "c++", "-std=c++17"] if language == "cpp" else ["-x", "c", "-std=c99"]
    command = [
        *found.command,
        *kind,
        "-fsyntax-only",
        "-Wall",
        "-Werror",
        *found.options,
        *folders,
        *words,
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def test_records_are_laid_out_as_the_library_writes_them(tmp_path):
    compiled("cpp", tmp_path, RECORDS, f"-I{NATIVE}", "-DANYWARP_CUPTI_MAJOR=13", "-Wno-error")


@pytest.mark.parametrize(
    "header",
    ["cupti.h", "cupti_activity.h", "cupti_callbacks.h", "cupti_result.h", "generated_cuda_runtime_api_meta.h"],
)
@pytest.mark.parametrize("language", ["c", "cpp"])
def test_each_header_stands_alone(tmp_path, header, language):
    compiled(language, tmp_path, f"#include <{header}>\nCUptiResult last = CUPTI_SUCCESS;\n")
