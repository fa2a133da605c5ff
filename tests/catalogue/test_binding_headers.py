"""Our nvml.h says what NVIDIA's binding for ctypes says, which was written apart from the one that the header is made from."""

import ctypes
import re
import subprocess

import pynvml

from anywarp.catalogue import declarations
from anywarp.catalogue.load import DATA, load
from anywarp.toolchain import clang, compile_commands

NVML = declarations.load("nvml_declarations") + declarations.load("nvml_manual")

OTHERWISE = {
    "gridlicensablefeature_t": "gridlicensablefeature_v4_t",
    "gridlicensablefeatures_t": "gridlicensablefeatures_v4_t",
}
"""Structs whose latest version has a name of its own there."""

LONGER = {"vgpumetadata_t", "vgpupgpumetadata_t"}
"""Structs whose end the other binding makes longer, for what the library writes there."""

SPELT = {
    ("workloadpowerprofileinfo_v1_t", "conflictingmask"), ("prmtlv_v1_t", "data"), ("prmcounter_v1_t", "inputValue"),
    ("prmcounter_v1_t", "outputValue"), ("remappedrowsinfo_v2_t", "bfailureOccurred"), ("excludeddeviceinfo_t", "pci"),
}  # fmt: skip
"""Fields that the other binding calls otherwise."""


def bare(name):
    """Return the name of a struct without what the binding writes before some."""
    return re.sub(r"^(c_)?(nvml)?", "", name).lower()


def compile_assertions(lines, folder):
    """Let the C compiler check `lines`, each a condition, after our nvml.h."""
    source = folder / "checked.c"
    asserted = "".join(f'_Static_assert({line}, "");\n' for line in lines)
    source.write_text(f"#include <stddef.h>\n#include <nvml.h>\n{asserted}")
    found = clang.find()
    folders = [f"-I{place}" for place in compile_commands.FOLDERS]
    command = [
        *found.command,
        "-x",
        "c",
        "-std=c11",
        "-fsyntax-only",
        "-ferror-limit=0",
        *found.options,
        *folders,
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def test_structs_are_laid_out_as_the_other_binding_lays_them_out(tmp_path):
    records = (ctypes.Structure, ctypes.Union)
    twins = {
        bare(name): kind for name, kind in vars(pynvml).items() if isinstance(kind, type) and issubclass(kind, records)
    }
    lines = []
    for each in NVML:
        name = bare(each.name)
        twin = twins.get(OTHERWISE.get(name, name))
        if each.kind in ("struct", "union") and twin is not None and name not in LONGER:
            lines.append(f"sizeof({each.name}) == {ctypes.sizeof(twin)}")
            names = {field[0]: getattr(twin, field[0]).offset for field in twin._fields_ if len(field) == 2}
            lines += [
                f"offsetof({each.name}, {field}) == {at}" for field, at in names.items() if (name, field) not in SPELT
            ]
    assert len(lines) > 500
    compile_assertions(lines, tmp_path)


def test_constants_and_versions_have_the_values_of_the_other_binding(tmp_path):
    numbers = {
        name: value for name, value in vars(pynvml).items() if type(value) is int and name.startswith(("NVML_", "nvml"))
    }
    assert len(numbers) > 1400
    compile_assertions([f"(unsigned long long)({name}) == {value}ULL" for name, value in numbers.items()], tmp_path)


def test_every_exported_function_is_declared_and_every_name_without_version_is_one_of_them():
    declared = {each.name for each in NVML if each.kind == "function"}
    assert declared == {row.name for row in load(DATA / "nvml.tsv").rows}
    assert {each.type for each in NVML if each.kind == "rename"} <= declared
