"""How the pairs with ROCm are made: reading declarations of bindings, finding counterparts by rules, and seeing where two calls differ."""

import pytest

from anywarp.catalogue import cython_facts, library_rows, pairing
from anywarp.catalogue.c_facts import Facts, Function, Type, spell
from anywarp.catalogue.library_sources import SOURCES

PXD = """
cdef extern from "toy/toy.h":

    cdef int TOY_LIMIT

    ctypedef enum toyOp_t "toyOp_t":
        TOY_OP_A "TOY_OP_A" = 3
        TOY_OP_B
        TOY_OP_C = 0x10
        TOY_OP_D = (TOY_OP_C + 1)
        TOY_OP_E = (1 << 6)
        TOY_OP_F = -42

    ctypedef struct toyShape:
        int rows
        float[4] scale

    ctypedef struct toySize_t 'toySize_t':
        unsigned int version
        char name[32]

ctypedef void * toyHandle_t
ctypedef void (*toyCall) (int n, void * data)

# cdef int notDeclared(int n)
cdef toyStatus_t toyRun(toyHandle_t handle,toyOp_t op,const float * const A[],long n,unsigned int flags) except? TOY_FAILED nogil
cdef int toyCount() except? -1 nogil
"""


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "cytoy.pxd").write_text(PXD)
    return cython_facts.read(tmp_path / "cytoy.pxd")


def test_bindings_are_read_as_the_header_that_they_declare(toy):
    assert set(toy.functions) == {"toyRun", "toyCount"}
    assert toy.functions["toyCount"].declared() == "void"
    assert toy.functions["toyRun"].parameters == (
        ("toyHandle_t", "handle"),
        ("toyOp_t", "op"),
        ("const float * const[]", "A"),
        ("long", "n"),
        ("unsigned int", "flags"),
    )
    assert toy.constants["toyOp_t"] == {
        "TOY_OP_A": 3, "TOY_OP_B": 4, "TOY_OP_C": 16, "TOY_OP_D": 17, "TOY_OP_E": 64, "TOY_OP_F": -42,
    }  # fmt: skip
    assert toy.types["toyShape"].fields == (("int", "rows"), ("float[4]", "scale"))
    assert toy.types["toySize_t"].fields == (("unsigned int", "version"), ("char[32]", "name"))
    assert toy.types["toyHandle_t"].kind == "handle"
    assert toy.types["toyCall"].kind == "callback"
    assert "TOY_LIMIT" in toy.macros


@pytest.mark.parametrize(
    "kind, name, text",
    [
        ("int *", "x", "int *x"),
        ("int[4]", "x", "int x[4]"),
        ("void (*)(int)", "f", "void (*f)(int)"),
        ("char", "", "char"),
    ],
)
def test_declarations_are_spelled_as_c_does(kind, name, text):
    assert spell(kind, name) == text


@pytest.mark.parametrize(
    "stem, name, first",
    [
        ("cublas", "cublasSgemm_v2_64", "hipblasSgemm_64"),
        ("cublas", "CUBLAS_OP_N", "HIPBLAS_OP_N"),
        ("driver", "cuMemcpyHtoDAsync_v2_ptsz", "hipMemcpyHtoDAsync_spt"),
        ("driver", "CUmemAllocationProp_v1", "hipMemAllocationProp"),
        ("cusolver", "CUSOLVERRF_UNIT_DIAGONAL_STORED_L", "HIPSOLVERRF_UNIT_DIAGONAL_STORED_L"),
    ],
)
def test_rules_name_the_counterpart(stem, name, first):
    rules = next(source.names for source in SOURCES if source.stem == stem)
    assert pairing.counterpart_names(name, rules)[0] == first


def test_constants_are_found_through_another_spelling():
    own = [
        "CU_DEVICE_ATTRIBUTE_WARP_SIZE",
        "CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH",
        "CU_DEVICE_ATTRIBUTE_CLOCK_RATE",
    ]
    theirs = ["hipDeviceAttributeClockRate", "hipDeviceAttributeWarpSize", "hipDeviceAttributeMaxTexture1DWidth"]
    assert [pairing.alike(name, own, theirs) for name in own] == [[theirs[1]], [theirs[2]], [theirs[0]]]
    assert pairing.alike("CU_DEVICE_ATTRIBUTE_SIZE", own, theirs) == []


def facts(*functions, **types):
    return Facts({f.name: f for f in functions}, {k: Type(k, *v) for k, v in types.items()})


@pytest.mark.parametrize(
    "theirs, words",
    [
        ((("hipOp_t", "op"), ("int", "n"), ("const float *", "x")), ""),
        ((("hipOp_t", "op"), ("int", "n")), "takes 3 parameters, hipRun 2"),
        ((("hipOther_t", "op"), ("int", "n"), ("const float *", "x")), "op: cuOp_t against hipOther_t"),
        ((("hipOp_t", "op"), ("int64_t", "n"), ("const float *", "x")), "n: int against int64_t"),
        ((("hipOp_t", "op"), ("int", "n"), ("const float **", "x")), "x: const float * against const float **"),
        ((("hipOp_t", "op"), ("int", "n"), ("const void *", "x")), ""),
        ((("hipOp_t *", "op"), ("int", "n"), ("const float *", "x")), "op: cuOp_t against hipOp_t *"),
    ],
)
def test_differences_between_two_calls_are_seen(theirs, words):
    ours = Function("cuRun", "int", (("cuOp_t", "op"), ("int", "n"), ("const float *", "x")))
    counterpart = Function("hipRun", "int", theirs)
    mine = facts(ours, cuOp_t=("enum", ""))
    other = facts(counterpart, hipOp_t=("enum", ""), hipOther_t=("enum", ""))
    assert pairing.differences(ours, mine, counterpart, other, {"cuOp_t": "hipOp_t"}) == words


def test_the_first_decision_that_matches_counts():
    choices = [
        library_rows.Choice("function", r"cuda(Get|Set)X", "custom", r"hip\1X", "first"),
        library_rows.Choice("function", r"cuda\w+", "absent", "", "second"),
        library_rows.Choice("type", r"\w+", "none", "", "third"),
    ]
    found = library_rows.chosen(choices, "function", "cudaSetX")
    assert (found.decision, found.target, found.reason) == ("custom", "hipSetX", "first")
    assert library_rows.chosen(choices, "function", "cudaFree").reason == "second"
    assert library_rows.chosen(choices, "constant", "CUDA_X").decision == ""


HEADER = """
#define TOY_ONE 1 /* a comment */
typedef enum { TOY_A = 3, TOY_B } toyKind;
typedef struct toyContext *toyHandle;
struct toyInner { float weight; };
typedef struct toyShape_st {
  toyKind kind;
  union { int fd; void *handle; } from;
  struct toyInner inner[2];
  unsigned char reserved[5];
} toyShape;
int toyRun(toyHandle handle, const toyShape *shape, void (*call)(int), int sizes[2]);
static inline int toyHidden(int n) { return n; }
"""


def test_headers_are_read_with_their_layout(tmp_path):
    pytest.importorskip(
        "clang.cindex", reason="the package libclang, which only those who make the tables need, is not installed"
    )
    from anywarp.catalogue import c_facts

    header = tmp_path / "toy.h"
    header.write_text(HEADER)
    found = c_facts.read(header, [], ["toy.h"])
    assert (
        found.functions["toyRun"].declared()
        == "toyHandle handle, const toyShape *shape, void (*call)(int), int sizes[2]"
    )
    assert set(found.functions) == {"toyRun"}
    assert "toyHidden" in c_facts.read(header, [], ["toy.h"], inline=True).functions
    assert found.constants["toyKind"] == {"TOY_A": 3, "TOY_B": 4}
    assert found.macros["TOY_ONE"] == "1"
    assert found.types["toyHandle"].kind == "handle"
    shape = found.types["toyShape_st"]
    # x86-64 System V: the enum, then the union at 8, the array of structs at 16, five bytes at 24, padded to 32.
    assert shape.size == 32
    assert shape.layout == (
        (0, 4, "enum", "toyKind"),
        (8, 4, "integer", ""),
        (8, 8, "pointer", ""),
        (16, 8, "float", ""),
        (24, 5, "integer", ""),
    )
    (tmp_path / "toy.h").write_text("unknown_t f(void);\n")
    with pytest.raises(RuntimeError, match="unknown type name"):
        c_facts.read(header, [], ["toy.h"])
