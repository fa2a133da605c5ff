"""Names that clang settles too late."""

import pytest

from anywarp.toolchain.private_names import settled

SUFFIX = "__static__0123456789abcdef"


@pytest.mark.parametrize("suffix", [SUFFIX, "__static__33a450dda62d5ad", "__intern__7"])  # zeros in front are left out
def test_uses_under_the_short_name_get_the_long_one(suffix):
    text = (
        f".extern .global .align 4 .b8 table[256];\n.extern .const .u32 other;\n.visible .global .align 4 .b8 table{suffix}[256];\n"
        "mov.b64 %rd1, table;\nmov.b64 %rd2, other;\nld.global.u32 %r1, [table+4];\nadd.s32 %r2, tables, x_table;\n"
    )
    assert settled(text) == (
        f".extern .const .u32 other;\n.visible .global .align 4 .b8 table{suffix}[256];\n"
        f"mov.b64 %rd1, table{suffix};\nmov.b64 %rd2, other;\nld.global.u32 %r1, [table{suffix}+4];\nadd.s32 %r2, tables, x_table;\n"
    )


def test_a_variable_of_another_file_stays_extern():
    text = f".extern .global .align 4 .u32 counter;\n.visible .global .align 4 .u32 own{SUFFIX};\n"
    assert settled(text) == text
