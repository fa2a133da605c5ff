"""The options of nvcc that we know: their spellings and what follows them, as data.

Names and arguments are those of nvcc 13.0's manual, and -Xfatbin, which nvcc takes and the manual leaves out; what an option does is in the modules that read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["flag", "value", "list", "bool"]
"""What follows an option: nothing; one value; values separated by commas, adding up; true or false."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option: `name` without dashes (the long form), all its spellings with dashes, what follows, and one line about it."""

    name: str
    spellings: tuple[str, ...]
    kind: Kind
    doc: str


_ROWS = """
cuda -cuda flag|Not supported: clang makes no C++ of CUDA C++.
cubin -cubin flag|Write the PTX where a cubin is asked for; our libraries load either.
fatbin -fatbin flag|Write a fat binary that holds the PTX.
ptx -ptx flag|Write PTX.
optix-ir -optix-ir flag|Not supported.
ltoir -ltoir flag|Not supported.
preprocess -E flag|Preprocess for the host and print.
generate-dependencies -M flag|Print the files that the input includes, as a rule for make.
generate-nonsystem-dependencies -MM flag|The same without system headers.
generate-dependencies-with-compile -MD flag|Compile, and write the rule beside it.
generate-nonsystem-dependencies-with-compile -MMD flag|The same without system headers.
dependency-output -MF value|Where the rule goes.
generate-dependency-targets -MP flag|Add an empty rule for each header.
dependency-target-name -MT value|The target of the rule.
compile -c flag|Compile to objects.
device-c -dc flag|Compile to objects with relocatable device code.
device-w -dw flag|Compile to objects with device code that is whole.
device-link -dlink flag|Link the device code of objects into an object.
link -link flag|Compile and link: the default.
lib -lib flag|Compile, and put the objects into a library.
run -run flag|Compile, link and run.
output-file -o value|The output.
pre-include -include list|Files to include first.
library -l list|Libraries to link.
define-macro -D list|Macros.
undefine-macro -U list|Macros that are undefined.
include-path -I list|Folders of headers.
system-include -isystem list|Folders of system headers.
library-path -L list|Folders of libraries.
output-directory -odir value|The folder of outputs.
compiler-bindir -ccbin value|The host's compiler or its folder: it links and compiles C++; CUDA C++ goes through clang.
allow-unsupported-compiler -allow-unsupported-compiler flag|Accepted: no compiler is refused.
archiver-binary -arbin value|The program that makes libraries.
cudart -cudart value|shared, static or none; static links the shared library as well, with its place written down.
cudadevrt -cudadevrt value|Accepted: our device runtime is in the driver.
libdevice-directory -ldir value|Accepted: no libdevice is needed.
target-directory -target-dir value|Accepted.
objdir-as-tempdir -objtemp flag|Accepted.
use-local-env -use-local-env flag|Accepted.
profile -pg flag|Code for gprof in the host's part.
debug -g flag|Debug information for the host's part.
device-debug -G flag|Line information for device code; it is optimised all the same.
generate-line-info -lineinfo flag|Line information for device code.
optimization-info -opt-info list|Accepted.
optimize -O value|How far the host's part is optimised (device code: always, unless -Xptxas -O0).
Ofast-compile -Ofc value|0, mid, min or max: device code is optimised less for max.
dopt -dopt value|Accepted: device code is optimised.
dlink-time-opt -dlto flag|Accepted: device code is linked as PTX, and optimised when a kernel is first needed.
lto -lto flag|As --dlink-time-opt.
gen-opt-lto -gen-opt-lto flag|Accepted.
ftemplate-backtrace-limit -ftemplate-backtrace-limit value|How much of a template's history messages show.
ftemplate-depth -ftemplate-depth value|How deeply templates may nest.
no-exceptions -noeh flag|No exceptions in the host's part.
shared -shared flag|Link a shared library.
x -x value|The language of the inputs: c, c++ or cu.
std -std value|c++11, c++14, c++17, c++20 or c++23.
no-host-device-initializer-list -nohdinitlist flag|Accepted.
no-host-device-move-forward -nohdmoveforward flag|Accepted.
expt-relaxed-constexpr -expt-relaxed-constexpr flag|Always on: constexpr functions can be called from both sides.
extended-lambda -extended-lambda flag|Always on: lambdas may be __device__.
expt-extended-lambda -expt-extended-lambda flag|As --extended-lambda.
machine -m value|64.
m64 -m64 flag|Accepted: there is nothing else.
compiler-options -Xcompiler list|Options for the host's part.
linker-options -Xlinker list|Options for the host's linker.
archive-options -Xarchive list|Options for the archiver.
ptxas-options -Xptxas list|-O0 and -O1 make device code less optimised, -v is accepted; the rest is for a machine we do not compile for.
nvlink-options -Xnvlink list|Accepted.
fatbin-options -Xfatbin list|Accepted: PTX is not compressed.
cudafe-options -Xcudafe list|Accepted: --diag_suppress and the like name messages of another compiler.
static-global-template-stub -static-global-template-stub bool|Accepted.
device-entity-has-hidden-visibility -device-entity-has-hidden-visibility bool|Accepted.
forward-unknown-to-host-compiler -forward-unknown-to-host-compiler flag|Options we do not know go to the host's part.
forward-unknown-to-host-linker -forward-unknown-to-host-linker flag|Options we do not know go to the host's linker.
forward-unknown-opts -forward-unknown-opts flag|Both.
dont-use-profile -noprof flag|Accepted.
dryrun -dryrun flag|Print the commands and run none.
verbose -v flag|Print the commands.
threads -t value|How many inputs are compiled at a time.
split-compile -split-compile value|Accepted.
split-compile-extended -split-compile-extended value|Accepted.
fdevice-syntax-only -fdevice-syntax-only flag|Check the device's part only.
fdevice-time-trace -fdevice-time-trace value|Accepted.
keep -keep flag|Keep intermediate files in the current folder.
keep-dir -keep-dir value|Where they are kept.
save-temps -save-temps flag|As --keep.
clean-targets -clean flag|Delete what the same command without it makes.
time -time value|Write how long each step took to this file, as a table with commas.
run-args -run-args list|Arguments for --run.
no-align-double -no-align-double flag|Accepted.
no-device-link -nodlink flag|Link without linking device code.
gpu-architecture -arch value|The architecture: sm_80, compute_80, native, all, all-major.
gpu-code -code list|The code for it; it decides nothing, PTX is all we make.
generate-code -gencode value|Architecture and code; of several, one is compiled: the best that the device has.
relocatable-device-code -rdc bool|Device code that is linked across objects.
entries -e list|Accepted.
maxrregcount -maxrregcount value|Accepted: registers are not scarce.
use_fast_math -use_fast_math flag|Fast intrinsics for functions, denormals flushed, approximate division and roots.
ftz -ftz bool|Flush denormals of float to zero.
prec-div -prec-div bool|Exact division of float.
prec-sqrt -prec-sqrt bool|Exact roots of float.
fmad -fmad bool|Contract products and sums.
extra-device-vectorization -extra-device-vectorization flag|Accepted.
default-stream -default-stream value|legacy, null or per-thread.
disable-warnings -w flag|No warnings.
keep-device-functions -keep-device-functions flag|Accepted.
source-in-ptx -src-in-ptx flag|Accepted: --generate-line-info says where PTX came from.
restrict -restrict flag|Accepted.
Wreorder -Wreorder flag|Warn of initialisers out of order.
Wdefault-stream-launch -Wdefault-stream-launch flag|Accepted.
Wmissing-launch-bounds -Wmissing-launch-bounds flag|Accepted.
Wext-lambda-captures-this -Wext-lambda-captures-this flag|Accepted.
Wno-deprecated-declarations -Wno-deprecated-declarations flag|No warnings of deprecated names.
Wno-deprecated-gpu-targets -Wno-deprecated-gpu-targets flag|Accepted.
Werror -Werror list|all-warnings makes warnings errors; the others are accepted.
resource-usage -res-usage flag|Accepted.
extensible-whole-program -ewp flag|Accepted.
no-compress -no-compress flag|Accepted: PTX is not compressed.
compress-mode -compress-mode value|Accepted.
list-gpu-code -code-ls flag|Print the codes.
list-gpu-arch -arch-ls flag|Print the architectures.
display-error-number -err-no flag|Accepted.
no-display-error-number -no-err-no flag|Accepted.
diag-error -diag-error list|Accepted: the numbers are another compiler's.
diag-suppress -diag-suppress list|Accepted.
diag-warn -diag-warn list|Accepted.
host-linker-script -hls value|Accepted.
augment-host-linker-script -aug-hls flag|Accepted.
relocatable-link -r flag|Link objects into an object.
brief-diagnostics -brief-diag bool|Accepted.
jump-table-density -jtd value|Accepted.
relocatable-ptx -reloc-ptx flag|Accepted.
device-stack-protector -device-stack-protector bool|Accepted.
frandom-seed -frandom-seed value|Names of what is private to a file depend on it.
jobserver -jobserver flag|Accepted.
help -h flag|Print this.
version -V flag|Print the version.
options-file -optf list|Files with more options.
print-cuda-home -print-cuda-home flag|Ours: print a folder that is laid out as a CUDA toolkit, for CUDA_HOME and CMake.
"""


def _row(line: str) -> Option:
    head, _, doc = line.partition("|")
    name, short, kind = head.split()
    if kind not in ("flag", "value", "list", "bool"):
        raise ValueError(line)
    return Option(name, (f"--{name}", short), kind, doc)


OPTIONS: tuple[Option, ...] = tuple(_row(line) for line in _ROWS.strip().splitlines())

SPELLINGS: dict[str, Option] = {s: option for option in OPTIONS for s in option.spellings}
"""Every spelling, with its dashes."""

JOINED = ("-I", "-D", "-U", "-L", "-l", "-O", "-e", "-o", "-x", "-m", "-t")
"""Spellings of one letter, whose value may follow without a space."""
