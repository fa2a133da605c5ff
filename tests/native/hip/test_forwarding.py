"""Functions of libcuda that are one call of HIP: the call arrives, each argument in its place and whole."""

import json
from functools import cache
from pathlib import Path

import pytest

from anywarp.catalogue import generate_hip, load
from native.hip.rig import run

pytestmark = pytest.mark.native

DATA = Path(load.__file__).parent / "data"
HEADER = Path(__file__).parents[3] / "native" / "hip" / "hip_api.h"

CALL_ALL = """
call("cuInit", 0)
context(1)
stream = made("cuStreamCreate", 1)
call("cuCtxGetStreamPriorityRange", byref(c_int()), byref(c_int()))
out["calls"] = []
fake.fake_rocm_set_result(b"*", ctypes.c_int64(0), 0, -1)
kept = []
for name, target, kinds in json.loads(PLAN):
    values = []
    for place, kind in enumerate(kinds):
        number = 0x1100 * (place + 1) + 0x22
        if kind == "CUdevice":
            values.append(c_int(1))
        elif kind == "CUstream":
            values.append(stream)
        elif kind.endswith("*"):
            room = ctypes.create_string_buffer(bytes((place * 16 + i) % 251 for i in range(1024)))
            if kind == "const char *":
                room = ctypes.create_string_buffer(b"a name %d" % place)
            kept.append(room)
            values.append(c_void_p(ctypes.addressof(room)))
        elif kind in ("size_t", "CUdeviceptr", "unsigned long long", "cuuint64_t") or kind.startswith("CU") and kind in HANDLES:
            values.append(c_uint64(number << 32 | number))
        else:
            values.append(c_int(number & 0xff if "attr" in kind else place + 1))
    code = getattr(cuda, name)(*values)
    out["calls"].append([name, target, code, [v.value for v in values]])
    fake.fake_rocm_set_output(b"nothing", 0, b"", c_size_t(0))
"""


@cache
def plan():
    signatures = {}
    for line in (DATA / "cuda_signatures.tsv").read_text().splitlines():
        cells = line.split("\t")
        if len(cells) == 3:
            signatures[cells[0]] = cells[2]
    answers = generate_hip.load_answers(DATA / "rocm" / "cuda_hip.tsv")
    rows = []
    for answer in answers.values():
        if answer.route == "forward":
            base = answer.name if answer.name in signatures else answer.name.removesuffix("_v2")
            rows.append(
                (answer.name, answer.target, [kind for kind, _ in generate_hip.split_parameters(signatures[base])])
            )
    return rows


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    code = f"PLAN = {json.dumps(plan())!r}\nHANDLES = {set(generate_hip.HANDLES)!r}\n{CALL_ALL}"
    return run(code, tmp_path_factory.mktemp("forward"), FAKE_HIP_DEVICES="gfx1100,gfx942")


def test_every_forwarded_function_calls_its_counterpart_once(called):
    records = [each for each in called.records if each.get("forced") == 0]
    wanted = [(name, target) for name, target, _ in plan()]
    assert len(wanted) > 90
    assert [(name, target, code) for name, target, code, _ in called.out["calls"]] == [(*each, 0) for each in wanted]
    arrived = [each["f"] for each in records]
    missing = [name for name, target in wanted if target not in arrived]
    assert not missing


def test_each_argument_arrives_in_its_place(called):
    prototypes = generate_hip.hip_prototypes(HEADER.read_text())
    records = iter([each for each in called.records if each.get("forced") == 0])
    wrong = []
    for (name, target, kinds), (_, _, _, values) in zip(plan(), called.out["calls"], strict=True):
        record = next(each for each in records if each["f"] == target)
        given = list(record["args"].values())
        assert len(given) == len(prototypes[target])
        for place, (kind, value) in enumerate(zip(kinds, values, strict=False)):
            arrived = int(given[place], 16) if isinstance(given[place], str) else given[place]
            if kind in ("CUstream",):
                fine = arrived != 0
            elif kind == "CUdevice":
                fine = arrived == 1
            else:
                fine = arrived == (value or 0)
            if not fine:
                wrong.append((name, place, kind, hex(value or 0), given[place]))
    assert not wrong
