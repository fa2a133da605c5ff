"""What our drivers' functions take is as wide as what NVIDIA's take: cuda_signatures.tsv against `AW_EXPORT` definitions.

C linkage lets no compiler see it: a `size_t*` read as `unsigned*` would link.
"""

import re
from pathlib import Path

from anywarp.catalogue.generate_hip import signatures, split_parameters

ROOT = Path(__file__).resolve().parents[2]
TYPES = (ROOT / "native/cuda/cuda_types.h").read_text(encoding="utf-8")
_WIDTHS = {
    "char": "8", "uint8_t": "8", "short": "16", "int": "32", "unsigned": "32", "uint32_t": "32", "cuuint32_t": "32", "float": "f32",
    "long long": "64", "uint64_t": "64", "cuuint64_t": "64", "size_t": "64", "uintptr_t": "64", "CUoutput_mode": "32",
}  # fmt: skip


def known() -> dict[str, str]:
    """What each name of cuda_types.h is: a width, a pointer, or a structure by its own name."""
    out = dict(_WIDTHS)
    out |= dict.fromkeys(re.findall(r"^typedef struct \w+ \*(\w+);", TYPES, re.M), "handle")
    out |= dict.fromkeys(re.findall(r"^typedef \w+ \(\*(\w+)\)\(", TYPES, re.M), "handle")
    out |= dict.fromkeys(re.findall(r"^enum (\w+) :", TYPES, re.M), "32")
    out |= dict.fromkeys(re.findall(r"^typedef unsigned long long (\w+);", TYPES, re.M), "64")
    out |= dict.fromkeys(re.findall(r"^typedef (?:unsigned )?int (\w+);", TYPES, re.M), "32")
    for _ in range(3):
        for target, name in re.findall(r"^typedef (\w+) (\w+);", TYPES, re.M):
            out[name] = out.get(target, target)
    return out


KNOWN = known()


def shape(kind: str) -> tuple[str, int]:
    """Return what a type is in the end, and how many pointers lead there."""
    plain = re.sub(r"\b(const|struct)\b", "", kind)
    depth = plain.count("*") + plain.count("[")
    words = re.sub(r"[*&]|\[.*?\]", "", plain).split()
    base = " ".join(words)
    if "long" in words:
        base = "long long"
    elif (len(words) > 1 and words[0] == "unsigned") or words[:1] == ["signed"]:
        base = words[1]
    found = KNOWN.get(base, base)
    return ("void", depth + 1) if found == "handle" else (found, depth)


def agree(ours: str, theirs: str) -> bool:
    (mine, my_depth), (base, depth) = shape(ours), shape(theirs)
    if mine == base and my_depth == depth:
        return True
    if (my_depth and depth) and "void" in (mine, base):
        return True  # a handle or bytes, seen as something
    # A structure or a handle of ours, or HIP's, in the place of NVIDIA's.
    return my_depth == depth and mine not in _WIDTHS.values() and base not in _WIDTHS.values()


def definitions() -> list[tuple[str, str, str]]:
    out = []
    for folder in ("cuda", "cpu", "hip"):
        for path in sorted((ROOT / "native" / folder).glob("*.cpp")):
            text = path.read_text(encoding="utf-8")
            for name, parameters in re.findall(r"^AW_EXPORT CUresult (cu\w+)\(([^{;]*?)\) \{", text, re.M):
                out.append((f"{folder}/{path.name}", name, " ".join(parameters.split())))
    return out


def parameter_type(parameter: str) -> str:
    """Return a parameter's type; without its name, where it has one."""
    kind, _, name = parameter.rpartition(" ")
    if not kind or name.endswith("*") or name in KNOWN:
        return parameter
    stars = "*" * (len(name) - len(name.lstrip("*")))
    return f"{kind} {stars}"


def test_a_narrower_number_is_seen():
    assert agree("CUdeviceptr*", "CUdeviceptr *") and agree("int*", "CUlimit *") and agree("void**", "CUgreenCtx *")
    assert not agree("unsigned*", "size_t *") and not agree("unsigned", "size_t") and not agree("size_t", "size_t *")


def test_parameters_are_as_wide_as_nvidias():
    known_signatures = signatures(ROOT / "src/anywarp/catalogue/data/cuda_signatures.tsv")
    found, wrong = definitions(), []
    for place, name, parameters in found:
        if name not in known_signatures:
            continue
        theirs = [kind for kind, _ in split_parameters(known_signatures[name])]
        ours = [parameter_type(each.strip()) for each in parameters.split(",")] if parameters else []
        if len(ours) != len(theirs) or not all(map(agree, ours, theirs)):
            wrong.append((place, name, ours, theirs))
    assert len(found) > 700
    assert not wrong, "\n".join(map(str, wrong))
