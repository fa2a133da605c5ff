"""The forwarders to ROCm's libraries: what is made from the tables, and what the pages say."""

from __future__ import annotations

from pathlib import Path

import pytest

from anywarp.catalogue import rocm, rocm_coverage
from anywarp.catalogue.conversion import SAME_LAYOUT, Unconvertible, arguments_of, from_target, meaning, to_target
from anywarp.catalogue.generate_rocm import generate, written_by_hand
from anywarp.catalogue.rocm import Answer, Constant, Function, Library, TableError, Type, parameters_of
from anywarp.catalogue.rocm_libraries import LIBRARIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coverage" / "rocm_libraries.md"


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == rocm_coverage.as_markdown(), "run scripts/docs"


@pytest.mark.parametrize(
    ("stem", "imported"),
    [
        ("cublas", 190),
        ("cublaslt", 22),
        ("cufft", 28),
        ("curand", 16),
        ("cusparse", 257),
        ("cusolver", 247),
        ("nccl", 53),
    ],
)
def test_what_clients_import_is_answered_or_absent_with_a_reason(stem, imported):
    library = next(each for each in rocm_coverage.served() if each.replaced.stem == stem)
    demanded = [entry for entry in library.planned.values() if entry.function.clients]
    assert len(demanded) == imported
    assert all(entry.reason for entry in demanded if entry.route == "absent")
    # What a table decided to answer is answered: no type that no rule covers, nothing forgotten by hand.
    left = [e.function.name for e in library.planned.values() if e.route == "absent" and e.function.route != "absent"]
    assert left == []


def test_functions_written_by_hand_are_rows_of_the_tables():
    from anywarp.catalogue.generate_rocm import NATIVE

    for stem in LIBRARIES:
        rows = {function.name for function in rocm.load(stem).functions}
        assert set(written_by_hand(NATIVE / stem)) - rows == set()


def test_generation_is_repeatable(tmp_path):
    first = {path.name: path.read_text() for path in generate("curand", tmp_path / "a")}
    again = {path.name: path.read_text() for path in generate("curand", tmp_path / "b")}
    assert first == again and "curand_10.map" in first
    assert first["curand_10.map"].startswith("libcurand.so.10 {") and "curandGenerate;" in first["curand_10.map"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("void", []),
        ("const float *const Aarray[], int lda", [("Aarray", "float", 2, True), ("lda", "int", 0, False)]),
        ("unsigned long long int seed", [("seed", "unsigned long long int", 0, False)]),
        ("struct id *const handle, size_t", [("handle", "id", 1, False), ("p1", "size_t", 0, False)]),
        ("void (*call)(int, char *), enum kind k", [("call", "(*)", 0, False), ("k", "kind", 0, False)]),
    ],
)
def test_parameter_lists_are_read(text, expected):
    assert [(p.name, p.base, p.pointers, p.const) for p in parameters_of(text)] == expected


def library(
    theirs: str = "hipHandle_t handle, hipOp_t op, int n", ours: str = "cuHandle_t handle, cuOp_t op, int n"
) -> Library:
    answer = Answer("hipF", "hip", 6, 7, "hipStatus_t", theirs)
    function = Function("cuF", (12,), "cuStatus_t", {12: ours}, "forward", (answer,), 1, "")
    types = [
        Type("cuHandle_t", "handle", "struct cu *", "hipHandle_t", "void *", "handle", ""),
        Type("cuOp_t", "enum", "unsigned int", "hipOp_t", "unsigned int", "enum", ""),
        Type("cuOther_t", "enum", "unsigned int", "hipOther_t", "unsigned int", "enum", ""),
        Type("cuStatus_t", "enum", "unsigned int", "hipStatus_t", "unsigned int", "enum", ""),
    ]
    constants = (
        Constant("cuOp_t", "CU_N", {12: 0}, "HIP_N", {6: 111, 7: 211}, ""),
        Constant("cuOp_t", "CU_ALSO_N", {12: 0}, "", {6: None, 7: None}, ""),
        Constant("cuOp_t", "CU_ONLY", {12: 5, 13: 6}, "", {6: None, 7: None}, "no counterpart"),
    )
    return Library("x", (function,), {entry.name: entry for entry in types}, {"cuOp_t": constants})


def arguments(*declarations: str):
    made = library(*declarations)
    return [argument.how for argument in arguments_of(made, made.functions[0], made.functions[0].answers[0], 12)]


def test_arguments_have_a_rule_each():
    assert arguments() == ["handle", "enum", "pass"]
    assert arguments("void *handle, hipOp_t *op, const float *x", "cuHandle_t handle, cuOp_t *op, const float *x") == [
        "handle", "enum_out", "pass",
    ]  # fmt: skip
    assert arguments("int64_t n, hipStream_t s", "int n, cudaStream_t s") == ["number", "stream"]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("hipOther_t op", "cuOp_t op"),  # another enum
        ("int op", "cuOp_t op"),  # a number that would happen to fit
        ("int64_t *x", "int *x"),  # elements of another size
        ("float *x", "int *x"),
        ("float x", "double x"),
        ("hipOp_t *x", "const cuOp_t *x"),  # an array of how many?
        ("unknown_t *x", "other_t *x"),
        ("int a, int b", "int a"),
    ],
)
def test_what_only_happens_to_fit_is_refused(theirs, ours):
    with pytest.raises(Unconvertible):
        arguments(theirs, ours)


def test_values_are_paired_by_version_both_ways():
    made = library()
    assert to_target(made, "cuOp_t", 12, 7) == {0: 211, 5: None} and to_target(made, "cuOp_t", 12, 6) == {
        0: 111,
        5: None,
    }
    assert from_target(made, "cuOp_t", 12, 6) == {111: 0}
    assert to_target(made, "cuOp_t", 13) == {6: None}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\tforward\t", "\tsomehow\t", 1),
        lambda text: text + text.splitlines()[-1] + "\n",
        lambda text: text.replace("majors", "versions", 1),
        lambda text: text + "cuOne\t12\n",
    ],
)
def test_tables_that_contradict_themselves_are_refused(change, tmp_path):
    for path in rocm.DATA.glob("curand*.tsv"):
        (tmp_path / path.name).write_text(path.read_text())
    table = tmp_path / "curand.tsv"
    table.write_text(change(table.read_text()))
    with pytest.raises(TableError, match=r"curand\.tsv:\d+"):
        rocm.load("curand", tmp_path)


def test_structures_that_are_not_copied_are_the_same_on_both_sides():
    """cudaLibXtDesc_t: an int, a pointer, two enums (ints), a pointer; and the values that programs read in it."""
    types = rocm.load("cufft").types
    for name, counterpart in SAME_LAYOUT.items():
        entry = types[name]
        assert entry.target == counterpart
        kinds = [
            ["*" if "*" in field else "int" for field in definition.split(";") if field.strip()]
            for definition in (entry.definition, entry.target_definition)
        ]
        assert kinds[0] == kinds[1] == ["int", "*", "int", "int", "*"]
    # Of a format that is not defined no descriptor is made.
    formats = [c for c in rocm.load("cufft").constants["cufftXtSubFormat_t"] if c.target and "UNDEFINED" not in c.name]
    assert len(formats) == 5 and all(c.values[12] == c.target_values[7] == c.target_values[6] for c in formats)


def test_typedefs_lead_to_what_they_name():
    made = rocm.load("cublas")
    assert meaning(made, "cudaDataType", target=False) == ("enum", "cudaDataType_t")
    assert meaning(made, "hipDataType", target=True) == ("enum", "hipDataType")
    assert meaning(made, "cuComplex", target=False)[0] == "number"
