"""Any tree that PTX can say prints to text that parses to the same tree."""

from hypothesis import strategies as st

from anywarp.ptx.parser import parse_module
from anywarp.ptx.printer import print_module
from anywarp.ptx.tree import (
    TYPES,
    Address,
    Alias,
    CallPrototype,
    Directive,
    File,
    Float,
    Function,
    GenericAddress,
    Group,
    Guard,
    InitialList,
    Instruction,
    Integer,
    Label,
    Location,
    Masked,
    Module,
    Name,
    Negated,
    Offset,
    Pair,
    Pragma,
    Registers,
    Scope,
    Section,
    Sink,
    Targets,
    Variable,
    Vector,
)
from spread import properties

WORDS = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_$]{0,6}|[_$%][a-zA-Z0-9_$]{1,6}", fullmatch=True).filter(
    lambda w: w not in ("WARP_SZ", "generic")
)
OPCODES = st.from_regex(r"[a-z][a-z0-9_]{0,7}", fullmatch=True).filter(lambda o: o != "call")
MODIFIERS = st.lists(st.from_regex(r"[a-z0-9_]{1,5}[a-z](::[a-zA-Z0-9]{1,4})?", fullmatch=True), max_size=4).map(tuple)
OFFSETS = st.integers(-(1 << 63), (1 << 63) - 1)
STRINGS = st.text(st.characters(codec="ascii", exclude_characters='"\n\r', exclude_categories=["Cc"]), max_size=8)
TYPE_NAMES = st.sampled_from(sorted(TYPES))
ALIGNS = st.one_of(st.none(), st.integers(0, 7).map(lambda n: 1 << n))


def tuples(strategy, least=0, most=3):
    return st.lists(strategy, min_size=least, max_size=most).map(tuple)


names = st.builds(Name, WORDS, st.one_of(st.none(), st.sampled_from(["x", "y", "b0", "h1"])))
integers = st.one_of(
    st.builds(Integer, st.integers(-(1 << 63), (1 << 64) - 1)),
    st.builds(Integer, st.integers(0, (1 << 64) - 1), st.just(True)),
)
floats = st.one_of(
    st.builds(Float, st.integers(0, (1 << 32) - 1), st.just(32)),
    st.builds(Float, st.integers(0, (1 << 64) - 1), st.just(64)),
)
simple = st.one_of(names, integers, floats, st.builds(Sink), st.builds(Offset, names, OFFSETS))
vectors = st.recursive(
    st.builds(Vector, tuples(simple, 1, 4)),
    lambda inner: st.builds(Vector, tuples(st.one_of(simple, inner), 1, 3)),
    max_leaves=4,
)
addresses = st.builds(
    Address, st.one_of(names, integers), st.just(0), tuples(st.one_of(names, vectors), most=2)
) | st.builds(Address, names, OFFSETS, tuples(vectors, most=1))
pairs = st.builds(Pair, st.one_of(names, vectors, st.builds(Sink)), st.one_of(names, st.builds(Sink)))
operands = st.one_of(simple, vectors, addresses, pairs, st.builds(Negated, names))
groups = st.builds(Group, tuples(simple))
guards = st.one_of(st.none(), st.builds(Guard, st.builds(Name, WORDS), st.booleans()))
instructions = st.one_of(
    st.builds(Instruction, OPCODES, MODIFIERS, tuples(operands, most=4), guards),
    st.builds(
        Instruction, st.just("call"), st.sampled_from([(), ("uni",)]), tuples(st.one_of(groups, names), 1, 4), guards
    ),
)

initials = st.recursive(
    st.one_of(
        integers, floats, st.builds(Name, WORDS), st.builds(GenericAddress, WORDS, OFFSETS),
        st.builds(Offset, st.builds(Name, WORDS), OFFSETS.filter(bool)),
    ),
    lambda inner: st.one_of(
        st.builds(InitialList, tuples(inner)), st.builds(Masked, st.integers(0, (1 << 64) - 1), inner)
    ),
    max_leaves=5,
)  # fmt: skip
DIMS = tuples(st.one_of(st.none(), st.integers(0, 1 << 40)), most=2)
ATTRIBUTES = tuples(st.sampled_from(["managed", "unified(1, 2)"]), most=2)


NOTHING = st.none()
UNLINKED = st.just("")


def variables(spaces, initial=NOTHING, linkage=UNLINKED, pointer=NOTHING, words=WORDS):
    return st.builds(
        Variable, st.sampled_from(spaces), TYPE_NAMES, words, DIMS, st.sampled_from([1, 2, 4, 8]), ALIGNS, initial, linkage,
        ATTRIBUTES, pointer,
    )  # fmt: skip


POINTERS = st.one_of(
    st.none(), st.tuples(st.sampled_from(["", "global", "const", "shared", "local"]), st.sampled_from([0, 1, 4, 128]))
)
params = tuples(variables(["param", "reg"], pointer=POINTERS))
prototypes = tuples(variables(["param", "reg"], words=st.sampled_from(["_", ""])), most=2)
arguments = st.one_of(tuples(st.integers(-(1 << 63), (1 << 63) - 1)), tuples(STRINGS, most=2))
DIRECTIVE_NAMES = st.sampled_from(["maxntid", "noreturn", "unheard_of", "abi_preserve"])
directives = st.builds(Directive, DIRECTIVE_NAMES, arguments)
LINKAGES = st.sampled_from(["", "extern", "visible", "weak", "common"])
registers = st.builds(
    Registers,
    TYPE_NAMES,
    tuples(st.tuples(WORDS, st.one_of(st.none(), st.integers(1, 1 << 20))), 1),
    st.sampled_from([1, 2, 4]),
)
pragmas = st.builds(Pragma, tuples(STRINGS, 1))
SMALL = st.integers(0, 1 << 31)
locations = st.builds(Location, SMALL, SMALL, SMALL, st.sampled_from(["", "function_name f + 4, inlined_at 1 2 3"]))
statements = st.recursive(
    st.one_of(
        instructions, registers, pragmas, locations, st.builds(Label, WORDS), st.builds(Directive, DIRECTIVE_NAMES, arguments),
        variables(["local", "shared", "param"], initials),  # the parser moves others out of functions
        st.builds(Targets, st.sampled_from(["branchtargets", "calltargets"]), WORDS, tuples(WORDS, 1)),
        st.builds(CallPrototype, WORDS, prototypes, prototypes, tuples(st.just(Directive("noreturn")), most=1)),
    ),
    lambda inner: st.builds(Scope, tuples(inner)),
    max_leaves=8,
)  # fmt: skip


@st.composite
def functions(draw):
    kind = draw(st.sampled_from(["entry", "func"]))
    returns = draw(params) if kind == "func" else ()
    headers = tuples(st.one_of(directives, st.builds(Directive, st.just("pragma"), tuples(STRINGS, 1))))
    body = draw(st.one_of(st.none(), st.builds(Scope, tuples(statements, most=6))))
    return Function(kind, draw(WORDS), draw(params), returns, draw(headers), draw(LINKAGES), draw(ATTRIBUTES), body)


items = st.one_of(
    functions(), st.builds(Alias, WORDS, WORDS), st.builds(File, SMALL, STRINGS, tuples(SMALL, most=2)), pragmas, locations,
    variables(["const", "global", "shared"], initials, LINKAGES), directives,
    st.builds(Section, st.sampled_from([".debug_info", "x"]), st.sampled_from(["", "\n.b8 1, 2\n L: // }\n", " {a} "])),
)  # fmt: skip


@st.composite
def modules(draw):
    listed, defined = [], set()
    for item in draw(st.lists(items, max_size=5)):
        if isinstance(item, Function) and item.body is not None and item.name in defined:
            continue
        if isinstance(item, Function) and item.body is not None:
            defined.add(item.name)
        listed.append(item)
    target = draw(tuples(st.from_regex(r"sm_[0-9]{2}a?", fullmatch=True), 1, 2))
    return Module(
        (draw(st.integers(1, 9)), draw(st.integers(0, 9))), target, draw(st.sampled_from([32, 64])), tuple(listed)
    )


@properties(150, 2000, modules())
def test_round_trip(module):
    assert parse_module(print_module(module)) == module
