"""Uses of managed variables in the host's IR, rewritten to go through the pointer that the runtime library fills."""

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain.managed import device_names, mark, names, rewritten

MODULE = """\
@x = internal global i32 undef, section "anywarp_managed", align 4
@s = internal global %struct.S undef, section "anywarp_managed", align 4
@plain = global i32 3, align 4
@0 = private unnamed_addr constant [2 x i8] c"x\\00", align 1
@1 = private unnamed_addr constant [5 x i8] c"_Z1s\\00", align 1

define i32 @read(i1 %0) {
  %2 = load i32, ptr @x, align 4
  br i1 %0, label %3, label %4

3:
  br label %4

4:
  %5 = phi ptr [ @x, %1 ], [ @s, %3 ]
  %6 = load float, ptr getelementptr inbounds ([4 x float], ptr getelementptr inbounds nuw (%struct.S, ptr @s, i32 0, i32 1), i64 0, i64 2), align 4
  %7 = add i64 ptrtoint (ptr @x to i64), 1
  ret i32 %2
}

define i32 @other() {
  %1 = load i32, ptr @plain, align 4
  ret i32 %1
}

define internal void @__cuda_register_globals(ptr %0) {
  call void @__cudaRegisterVar(ptr %0, ptr @x, ptr @0, ptr @0, i32 0, i64 4, i32 0, i32 0)
  call void @__cudaRegisterVar(ptr %0, ptr @s, ptr @1, ptr @1, i32 0, i64 20, i32 0, i32 0)
  call void @__cudaRegisterVar(ptr %0, ptr @plain, ptr @1, ptr @1, i32 0, i64 4, i32 0, i32 0)
  ret void
}
"""


def function(text, name):
    start = text.index(f"@{name}(")
    return text[start : text.index("\n}", start)]


def test_variables_and_their_names_on_the_device_are_found():
    assert names(MODULE) == ["@x", "@s"]
    assert device_names(MODULE) == ["x", "_Z1s"]


def test_a_function_asks_for_the_address_once_and_uses_it_everywhere():
    body = function(rewritten(MODULE, False), "read")
    assert body.count("call ptr @x.address()") == body.count("call ptr @s.address()") == 1
    assert "load i32, ptr %x.managed, align 4" in body
    assert "phi ptr [ %x.managed, %1 ], [ %s.managed, %3 ]" in body
    assert "@x," not in body and "@s," not in body


def test_constant_expressions_become_instructions_innermost_first():
    body = function(rewritten(MODULE, False), "read").splitlines()
    rows = [row.strip() for row in body if "%expression." in row]
    assert "%expression.0.managed = ptrtoint ptr %x.managed to i64" in rows
    inner = next(row for row in rows if "%struct.S" in row)
    outer = next(row for row in rows if "[4 x float]" in row)
    assert rows.index(inner) < rows.index(outer)
    assert inner.partition(" = ")[0] in outer
    assert any(row.startswith("%6 = load float, ptr %expression.") for row in rows)


def test_functions_that_use_none_are_left_alone():
    assert function(rewritten(MODULE, False), "other") == function(MODULE, "other")


def test_managed_variables_are_registered_as_such_and_others_as_before():
    body = function(rewritten(MODULE, False), "__cuda_register_globals")
    assert (
        "@__cudaRegisterManagedVar(ptr %0, ptr @x.managed, ptr @x.managed, ptr @0, i32 0, i64 4, i32 0, i32 0)" in body
    )
    assert "@__cudaRegisterVar(ptr %0, ptr @plain," in body


def test_a_constant_address_is_refused_by_name():
    with pytest.raises(AnywarpError) as caught:
        rewritten(MODULE.replace("@plain = global i32 3", "@plain = global ptr @x"), False)
    assert caught.value.diagnostic.code == "T007"
    assert "@plain" in caught.value.diagnostic.message


def test_the_devices_half_is_told_which_variables_are_managed():
    ptx = (
        ".visible .global .align 4 .u32 x = 42;\n.global .align 16 .b8 _Z1s[20];\n.visible .global .align 4 .u32 xy;\n"
    )
    assert mark(ptx, ["x", "_Z1s"]) == (
        ".visible .global .attribute(.managed) .align 4 .u32 x = 42;\n"
        ".global .attribute(.managed) .align 16 .b8 _Z1s[20];\n.visible .global .align 4 .u32 xy;\n"
    )
