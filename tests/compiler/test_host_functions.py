"""Functions of the runtime that kernels call have one description; the other descriptions that exist are held against it."""

import re
from pathlib import Path

import pytest

from anywarp.compiler import codes
from anywarp.compiler.amdgpu import services
from anywarp.compiler.calls import SERVICES
from anywarp.compiler.host_functions import HOST_FUNCTIONS, header
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.pipeline import compile_kernel
from anywarp.compiler.simd.target import this_machine
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module

ROOT = Path(__file__).parents[2]


def test_the_contract_names_each_with_its_types() -> None:
    section = (ROOT / "docs/contracts.md").read_text().split("## 6. ")[1].split("\n## ")[0]
    written = {m[2]: (m[1], m[3]) for m in re.finditer(r"`(\w+) (aw_\w+)\(([^)]*)\)`", section)}
    assert written.keys() == HOST_FUNCTIONS.keys()
    for name, function in HOST_FUNCTIONS.items():
        result, parameters = written[name]
        assert result == function.result, name
        listed = [] if parameters == "void" else parameters.split(", ")
        assert [re.match(r"(?:const )?\w+\*?", p)[0] for p in listed] == [type for type, _ in function.parameters]  # type: ignore[index]


def test_the_header_declares_and_lists_each() -> None:
    text = header()
    for name, function in HOST_FUNCTIONS.items():
        assert function.declaration() in text
        assert f"each({name})" in text


def test_the_library_for_amd_gpus_takes_what_its_callers_pass() -> None:
    """`aw_hip_*` of the linked library: its own first arguments (where services and place are), then those of the call."""
    library = (Path(services.__file__).parent / "services.ll").read_text()
    for name, (result, types) in services._TYPES.items():
        line = next(each for each in library.splitlines() if each.startswith("define ") and f"@aw_hip_{name}(" in each)
        before, _, after = line.partition(f" @aw_hip_{name}(")
        have = re.findall(r"(?:^|, )(i\d+|ptr) ", after)
        own = [] if name == "nanosleep" else ["i64", *(["ptr"] if name in services._TELLS_PLACE else [])]
        assert (before.split()[-1], have) == (result, [*own, *types]), name


KERNEL = """.version 8.0
.target sm_80
.address_size 64
.extern .func {results} {name} ({params});
.visible .entry k(.param .u64 out) {{
  .reg .b64 %rd1; .reg .b32 %r1; .reg .f32 %f1;
  ld.param.u64 %rd1, [out];
  {{
    {locals}
    call {given} {name}, ({arguments});
  }}
  ret;
}}
"""


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("type", ["b64", "f32"])
@pytest.mark.parametrize("result", ["", "b32", "f32"])
def test_a_service_that_is_declared_otherwise_is_refused(name: str, count: int, type: str, result: str) -> None:
    """Never a crash, and never a call with arguments that are not there."""
    params = ", ".join(f".param .{type} p{i}" for i in range(count))
    text = KERNEL.format(
        name=name,
        params=params,
        results=f"(.param .{result} r)" if result else "",
        given="(v)," if result else "",
        locals=f".param .{result} v;" if result else "",
        arguments=", ".join({"b64": "%rd1", "f32": "%f1"}[type] for _ in range(count)),
    )
    function = HOST_FUNCTIONS[f"aw_{SERVICES[name]}"]
    fits = count >= len(function.parameters) - 1 and type == "b64" and result != "f32"
    if fits and bool(result) == (function.result != "void"):
        assert compile_kernel(index_module(text), "k", Specialisation((32, 1, 1)), this_machine()).object
        return
    with pytest.raises(AnywarpError) as refused:
        compile_kernel(index_module(text), "k", Specialisation((32, 1, 1)), this_machine())
    assert refused.value.diagnostic.code in (codes.WRONG_CALL, codes.UNDEFINED_FUNCTION)
