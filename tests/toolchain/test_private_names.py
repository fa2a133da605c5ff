"""Names that clang settles too late."""

from anywarp.toolchain.private_names import settled

SUFFIX = "__static__0123456789abcdef"


def test_uses_under_the_short_name_get_the_long_one():
    text = (
        f".extern .global .align 4 .b8 table[256];\n.extern .const .u32 other;\n.visible .global .align 4 .b8 table{SUFFIX}[256];\n"
        "mov.b64 %rd1, table;\nmov.b64 %rd2, other;\nld.global.u32 %r1, [table+4];\nadd.s32 %r2, tables, x_table;\n"
    )
    assert settled(text) == (
        f".extern .const .u32 other;\n.visible .global .align 4 .b8 table{SUFFIX}[256];\n"
        f"mov.b64 %rd1, table{SUFFIX};\nmov.b64 %rd2, other;\nld.global.u32 %r1, [table{SUFFIX}+4];\nadd.s32 %r2, tables, x_table;\n"
    )


def test_a_variable_of_another_file_stays_extern():
    text = f".extern .global .align 4 .u32 counter;\n.visible .global .align 4 .u32 own{SUFFIX};\n"
    assert settled(text) == text
