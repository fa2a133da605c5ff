"""The options of NVRTC: most are nvcc's, some are its own.

Names and arguments are those of the NVRTC manual, section Supported Compile Options.
"""

from __future__ import annotations

from anywarp.toolchain.option_table import SPELLINGS, Option

_SHARED = (
    "device-c", "device-w", "relocatable-device-code", "extensible-whole-program", "device-debug", "generate-line-info", "dopt",
    "Ofast-compile", "ptxas-options", "maxrregcount", "ftz", "prec-sqrt", "prec-div", "fmad", "use_fast_math",
    "extra-device-vectorization", "dlink-time-opt", "gen-opt-lto", "optix-ir", "jump-table-density", "device-stack-protector",
    "frandom-seed", "define-macro", "undefine-macro", "include-path", "pre-include", "std", "disable-warnings", "restrict",
    "optimization-info", "display-error-number", "no-display-error-number", "diag-error", "diag-suppress", "diag-warn",
    "brief-diagnostics", "time", "split-compile", "fdevice-syntax-only", "fdevice-time-trace", "gpu-architecture", "entries", "lto",
    "Wreorder", "Werror", "keep-device-functions", "source-in-ptx", "default-stream",
)  # fmt: skip

_OWN = """
modify-stack-limit -modify-stack-limit bool
no-cache -no-cache flag
no-source-include -no-source-include flag
builtin-move-forward -builtin-move-forward bool
builtin-initializer-list -builtin-initializer-list bool
pch -pch flag
create-pch -create-pch value
use-pch -use-pch value
pch-dir -pch-dir value
pch-verbose -pch-verbose bool
pch-messages -pch-messages bool
instantiate-templates-in-pch -instantiate-templates-in-pch bool
device-as-default-execution-space -default-device flag
device-int128 -device-int128 flag
device-float128 -device-float128 flag
version-ident -version-ident bool
minimal -minimal flag
"""


def _own() -> list[Option]:
    return [
        Option(
            name, (f"--{name}", short), "flag" if kind == "flag" else "bool" if kind == "bool" else "value", "NVRTC's"
        )
        for name, short, kind in map(str.split, _OWN.strip().splitlines())
    ]


OPTIONS: dict[str, Option] = {
    **{spelling: option for spelling, option in SPELLINGS.items() if option.name in _SHARED},
    **{spelling: option for option in _own() for spelling in option.spellings},
}
"""Every spelling, with its dashes."""
