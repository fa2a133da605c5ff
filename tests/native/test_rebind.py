"""A CUDA runtime that a program carries is redirected as a whole, before anything in it runs, or left alone with a word."""

import ctypes
import os
import shutil
import subprocess
import sys

import pytest

from native.static_runtime import (
    CARRIED,
    LIBRARIES,
    NOT_SUPPORTED,
    WIDE,
    Carrier,
    answer,
    build,
    called,
    compile_c,
    entries,
    make_place,
)

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_place(tmp_path_factory.mktemp("rebind"))


@pytest.fixture(scope="module")
def library(place):
    return build(place.folder, "libcarrier.so", Carrier("13.0", shared=True))


def expected(release):
    return {name: answer(release, name) for name in entries(release) if name != WIDE}


def without_wide(output):
    return {name: value for name, value in called(output).items() if name != WIDE}


@pytest.mark.parametrize(
    ("release", "flags"),
    [
        ("12.0", ()),
        ("12.3", ("-no-pie",)),
        ("12.9", ("-Wl,-z,now",)),
        ("13.0", ("-Wl,--gc-sections", "-ffunction-sections", "-fcf-protection")),
        ("13.5", ("-Wl,--strip-debug",)),
    ],
)
def test_every_entry_of_a_program_reaches_the_runtime_of_its_major(place, release, flags):
    program = build(place.folder, f"program-{release}", Carrier(release, flags=flags))
    ran = place.run(program)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert without_wide(ran.stdout) == expected(release)


ANOTHER_FORM = ("cudaRuntimeGetVersion", "cudaFuncGetAttributes", "cudaCreateTextureObject", "cudaGetTextureObjectTextureDesc",
                "cudaGetDriverEntryPoint", "cudaGetDriverEntryPoint_ptsz", "cudaGraphInstantiate", "cudaGraphExecUpdate")  # fmt: skip
"""What CUDA 11.8's headers declare with other arguments or structures than CUDA 12.0's."""


def test_every_entry_of_cuda_11_8_reaches_the_runtime_of_12_or_says_that_it_is_gone(place):
    names = tuple(name for name in entries("11.8") if name not in ANOTHER_FORM)
    ran = place.run(build(place.folder, "eleven-8", Carrier("11.8", called=names)))
    assert ran.returncode == 0
    assert without_wide(ran.stdout) == {name: answer("11.8", name) for name in names if name != WIDE}
    gone = {line.split()[2] for line in ran.stderr.splitlines() if "N004" in line}
    assert gone == {name for name in names if answer("11.8", name) == NOT_SUPPORTED} and "cudaBindTexture" in gone


def test_functions_of_cuda_11_8_with_another_form_are_called_by_that_of_12(tmp_path):
    """A runtime of 12 that fills its own structures to their ends; the program has those of 11.8, with a word behind each that stays."""
    runtime = """
#include <string.h>
int cudaRuntimeGetVersion(int* v) { *v = 12090; return 0; }
int cudaFuncGetAttributes(int* a, void* f) { for (int i = 0; i < 36; ++i) a[i] = 100 + i; return f ? 0 : 98; }
int cudaCreateTextureObject(unsigned long long* t, void* r, int* d, void* v) { *t = d[0] + 10 * d[16] + 100 * d[17]; return r && !v ? 0 : 1; }
int cudaGetTextureObjectTextureDesc(int* d, unsigned long long t) { for (int i = 0; i < 18; ++i) d[i] = t + i; return 0; }
int cudaGetDriverEntryPoint(char* s, void** f, unsigned long long flags, int* q) { *f = s; return flags == 7 && !q ? 0 : 1; }
int cudaGraphInstantiate(void** e, void* g, unsigned long long flags) { *e = g; return flags; }
int cudaGraphExecUpdate(void* e, void* g, char* info) { *(int*)info = 4; *(void**)(info + 8) = e; *(void**)(info + 16) = 0; return 910; }
"""
    source = r"""
#define call(name) ((int (*)())name)
int main(void) {
  int version, attributes[14] = {[13] = -5}, how[18] = {3, [16] = 4, [17] = 9}, read[18] = {[17] = -6}, result = 0, node = 0, here;
  unsigned long long texture, newer; void *function, *made, *wrong = &here; char log[2] = "x", name[] = "n";
  int error = call(cudaRuntimeGetVersion)(&version);
  printf("%d %d\n", error, version);
  error = call(cudaFuncGetAttributes)(attributes, main);
  printf("%d %d %d %d %d\n", error, attributes[0], attributes[12], attributes[13], call(cudaFuncGetAttributes)(attributes, (void*)0));
  error = call(cudaCreateTextureObject)(&texture, &here, how, (void*)0);
  error += call(cudaCreateTextureObject_v2)(&newer, &here, how, (void*)0);
  printf("%d %llu %llu\n", error, texture, newer);
  error = call(cudaGetTextureObjectTextureDesc)(read, 50ull);
  printf("%d %d %d %d\n", error, read[0], read[16], read[17]);
  error = call(cudaGetDriverEntryPoint)(name, &function, 7ull);
  printf("%d %d\n", error, function == name);
  error = call(cudaGraphInstantiate)(&made, &here, &wrong, log, (size_t)2);
  printf("%d %d %d %d\n", error, made == &here, wrong == 0, log[0]);
  error = call(cudaGraphExecUpdate)(&node, &here, &wrong, &result);
  printf("%d %d %d\n", error, wrong == &node, result);
}
"""
    folder = make_place(tmp_path)
    compile_c(folder.folder, folder.folder / "libcudart.so.12", [runtime], ("-shared", "-fPIC"))
    ran = folder.run(build(folder.folder, "forms", Carrier("11.8", source=source)))
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "0 11080", "0 100 112 -5 98", "0 43 943", "0 50 66 -6", "0 1", "0 1 1 0", "910 1 4",
    ]  # fmt: skip


def test_without_the_auditor_the_program_runs_what_it_carries(place):
    program = build(place.folder, "alone", Carrier("13.0"))
    ran = subprocess.run([program], capture_output=True, text=True, check=True)
    assert set(called(ran.stdout).values()) == {CARRIED}


def test_the_first_call_keeps_all_arguments(place):
    source = f"""
int main(void) {{
  typedef long (*wide)(long, long, long, long, long, long, double, double, double, double, double, double, double, double, long, long);
  for (int i = 0; i < 2; ++i)
    printf("{WIDE} %ld\\n", ((wide){WIDE})(3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59));
}}
"""
    program = build(place.folder, "wide", Carrier("13.0", source=source))
    integers = [3, 5, 7, 11, 13, 17, 53, 59]
    floats = [19, 23, 29, 31, 37, 41, 43, 47]
    mixed = sum(i * x for i, x in enumerate(integers, 1)) + sum(i * x for i, x in enumerate(floats, 9))
    assert place.run(program).stdout.splitlines() == [f"{WIDE} {mixed}"] * 2


def test_constructors_of_the_program_call_our_runtime_already(place):
    source = "__attribute__((constructor(101))) static void early(void) { call_all(); }\nint main(void) {}\n"
    program = build(place.folder, "early", Carrier("12.4", source=source))
    assert without_wide(place.run(program).stdout) == expected("12.4")


def test_destructors_call_our_runtime_too(place):
    source = "__attribute__((destructor)) static void late(void) { call_all(); }\nint main(void) {}\n"
    program = build(place.folder, "late", Carrier("12.4", source=source))
    assert without_wide(place.run(program).stdout) == expected("12.4")


def test_a_library_that_a_program_needs_is_redirected_before_its_constructors(place):
    source = "__attribute__((constructor)) static void early(void) { call_all(); }\nint needed;\n"
    build(place.folder, "libneeded.so", Carrier("13.0", source=source, shared=True))
    main = "extern int needed; int main(void) { return needed; }\n"
    flags = (f"-L{place.folder}", "-lneeded", f"-Wl,-rpath,{place.folder}")
    program = compile_c(place.folder, place.folder / "needs", [main], flags)
    assert without_wide(place.run(program).stdout) == expected("13.0")


def test_libraries_of_both_majors_in_one_process_go_to_two_runtimes(place, library):
    other = build(place.folder, "libtwelve.so", Carrier("12.6", shared=True))
    script = "import ctypes, sys\nfor path in sys.argv[1:]:\n    print(ctypes.CDLL(path).work())"
    ran = place.run(sys.executable, "-c", script, library, other)
    wanted = [answer("13.0", "cudaDeviceSynchronize"), answer("12.6", "cudaDeviceSynchronize")]
    assert list(map(int, ran.stdout.split())) == wanted


def test_loading_and_unloading_again_and_again(place, library):
    script = (
        "import ctypes, sys, _ctypes\n"
        "for _ in range(100):\n"
        "    loaded = ctypes.CDLL(sys.argv[1]); print(loaded.work()); _ctypes.dlclose(loaded._handle)\n"
    )
    ran = place.run(sys.executable, "-c", script, library)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert set(map(int, ran.stdout.split())) == {answer("13.0", "cudaDeviceSynchronize")}


def test_threads_that_load_at_the_same_time(place):
    paths = [build(place.folder, f"libthread{i}.so", Carrier("13.0", shared=True)) for i in range(4)]
    script = (
        "import ctypes, sys, threading, _ctypes\n"
        "def load(path):\n"
        "    for _ in range(20):\n"
        "        loaded = ctypes.CDLL(path); found.append(loaded.work()); _ctypes.dlclose(loaded._handle)\n"
        "found = []; threads = [threading.Thread(target=load, args=(path,)) for path in sys.argv[1:] * 2]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print(len(found), *set(found))\n"
    )
    ran = place.run(sys.executable, "-c", script, *paths)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert list(map(int, ran.stdout.split())) == [160, answer("13.0", "cudaDeviceSynchronize")]


def test_children_inherit_it(place):
    program = build(place.folder, "child", Carrier("13.1"))
    assert without_wide(place.run("sh", "-c", f"true; {program}").stdout) == expected("13.1")


def test_programs_started_through_the_loader_by_hand(place):
    program = build(place.folder, "by-hand", Carrier("13.0"))
    loader = next(line.split()[0] for line in _ldd(program) if "ld-linux" in line)
    audit, target = (str(place.folder / name) for name in LIBRARIES)
    ran = subprocess.run(
        [loader, "--audit", audit, "--preload", target, program], capture_output=True, text=True, check=True
    )
    assert without_wide(ran.stdout) == expected("13.0")


def _ldd(program):
    return subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_process_without_a_carried_runtime_does_not_load_ours(place):
    ran = place.run(sys.executable, "-c", "print('libcudart' in open('/proc/self/maps').read())")
    assert (ran.stdout, ran.stderr) == ("False\n", "")


def test_no_page_is_writable_and_executable_afterwards(place):
    source = (
        'int main(void) { call_all(); char line[512]; FILE* maps = fopen("/proc/self/maps", "r");\n'
        "  while (fgets(line, sizeof line, maps)) fputs(line, stderr); }\n"
    )
    ran = place.run(build(place.folder, "maps", Carrier("13.0", source=source)))
    assert without_wide(ran.stdout) == expected("13.0")
    assert "r-xp" in ran.stderr
    assert "rwxp" not in ran.stderr


def test_where_code_may_not_become_writable_it_is_redirected_all_the_same(place):
    program = build(place.folder, "mdwe", Carrier("13.0"))
    libc = ctypes.CDLL(None, use_errno=True)
    set_mdwe, refuse_exec_gain = 65, 1  # linux/prctl.h
    script = (
        f"import ctypes, os, sys; print(ctypes.CDLL(None).prctl({set_mdwe}, {refuse_exec_gain}, 0, 0, 0), flush=True)\n"
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    get_mdwe = 66
    if libc.prctl(get_mdwe, 0, 0, 0, 0) != 0:
        pytest.skip("this kernel has no PR_SET_MDWE")
    ran = place.run(sys.executable, "-c", script, program)
    assert ran.stdout.startswith("0\n")
    assert without_wide(ran.stdout[2:]) == expected("13.0")


def refused(place, program):
    """Run a program that cannot be redirected: it runs what it carries, all of it; return the one line said."""
    ran = place.run(program)
    assert set(called(ran.stdout).values()) == {CARRIED}
    assert ran.returncode == 0
    assert ran.stderr.count("\n") == 1
    return ran.stderr


def test_a_stripped_program_is_left_alone_and_told_of(place):
    kernels = '__attribute__((section(".nvFatBinSegment"), used)) static int fatbin = 1;\n'
    source = kernels + "int main(void) { call_all(); return 0; }\n"
    program = build(place.folder, "stripped", Carrier("13.0", source=source, flags=("-s",)))
    said = refused(place, program)
    assert said.startswith(f"anywarp: warning[N002]: {program} carries NVIDIA's CUDA runtime")
    assert "-cudart shared" in said


def test_a_stripped_program_with_a_shared_runtime_is_nobodys_business(place):
    source = (
        '__attribute__((section(".nvFatBinSegment"), used)) static int fatbin = 1;\n'
        "long __cudaRegisterFatBinary(void);\nlong cudaDeviceSynchronize(void);\n"
        "int main(void) { return (__cudaRegisterFatBinary() && cudaDeviceSynchronize() > 1000) ? 5 : 6; }\n"
    )
    flags = (str(place.folder / "libcudart.so.13"), f"-Wl,-rpath,{place.folder}", "-s")
    program = compile_c(place.folder, place.folder / "shared", [source], flags)
    ran = place.run(program)
    assert (ran.returncode, ran.stderr) == (5, "")


def test_one_entry_without_a_symbol_and_none_is_redirected(place):
    program = build(place.folder, "partial", Carrier("13.0"))
    subprocess.run(["strip", "-N", "cudaStreamCreate", program], check=True)
    said = refused(place, program)
    assert said.startswith(f"anywarp: error[N003]: {program}")
    assert "cudaStreamCreate is missing" in said


def test_a_release_before_12_is_refused(place):
    newer = tuple(name for name in entries("12.0") if "Library" in name or "Kernel" in name)
    old = Carrier("12.0", without=newer, extra=("cudaBindTexture", "cudaUnbindTexture"))
    assert "N003" in refused(place, build(place.folder, "eleven", old))


def test_two_majors_in_one_file_are_refused(place):
    both = Carrier("13.0", extra=tuple(name for name in entries("12.9") if name not in entries("13.0")))
    assert "two majors of CUDA at once" in refused(place, build(place.folder, "both", both))


def test_entries_too_short_for_a_jump_are_refused(place):
    short = (
        '__asm__(".text\\n.balign 16\\n.globl cudaFree\\n.hidden cudaFree\\n.type cudaFree,@function\\n"\n'
        f'"cudaFree: movl ${CARRIED}, %eax\\nret\\n.type next,@function\\nnext: nop\\nret\\n");\n'
    )
    carrier = Carrier(
        "13.0",
        without=("cudaFree",),
        source=short + "int main(void) { call_all(); return 0; }\n",
        called=tuple(entries("13.0")),
    )
    assert "too short to be redirected" in refused(place, build(place.folder, "short", carrier))


def test_names_of_a_later_release_return_not_supported_and_say_so_once(place):
    source = (
        "int main(void) {\n"
        '  for (int i = 0; i < 3; ++i) printf("cudaFromTheFuture %ld\\n", cudaFromTheFuture());\n'
        '  printf("cudaFree %ld\\n", cudaFree());\n}\n'
    )
    names = entries("13.5")
    carrier = Carrier("13.5", without=(names[-1],), extra=("cudaFromTheFuture", names[-1]), source=source)
    program = build(place.folder, "future", carrier)
    ran = place.run(program)
    assert ran.stdout == "cudaFromTheFuture 801\n" * 3 + f"cudaFree {answer('13.5', 'cudaFree')}\n"
    assert ran.stderr.startswith("anywarp: warning[N004]: cudaFromTheFuture was called")
    assert ran.stderr.count("\n") == 1


def test_functions_of_the_program_outside_the_runtime_stay_its_own(place):
    source = (
        "__attribute__((noinline, aligned(16))) long cudaOfMine(void) { return rand() ? 77 : 78; }\n"
        'int main(void) { printf("cudaOfMine %ld\\n", cudaOfMine()); return 0; }\n'
    )
    ran = place.run(build(place.folder, "mine", Carrier("13.0", source=source)))
    assert (ran.stdout, ran.stderr) == ("cudaOfMine 77\n", "")


def test_a_missing_runtime_is_said_and_nothing_is_redirected(place, tmp_path):
    moved = make_place(tmp_path)
    (tmp_path / "libcudart.so.13").unlink()
    assert "our libcudart.so.13 is missing" in refused(moved, build(tmp_path, "homeless", Carrier("13.0")))


def test_a_runtime_that_cannot_be_loaded_ends_the_program(place, tmp_path):
    broken = make_place(tmp_path)
    (tmp_path / "libcudart.so.13").write_text("not a library")
    ran = broken.run(build(tmp_path, "broken", Carrier("13.0")))
    assert (ran.returncode, ran.stdout) == (127, "")
    assert ran.stderr.startswith("anywarp: error[N006]: libcudart for CUDA 13")


def test_a_changed_preload_is_said(place):
    program = build(place.folder, "unloaded", Carrier("13.0"))
    ran = place.run(program, LD_PRELOAD="")
    assert "N003" in ran.stderr
    assert "LD_PRELOAD" in ran.stderr
    assert set(called(ran.stdout).values()) == {CARRIED}


def test_silence_can_be_asked_for(place):
    program = build(place.folder, "quiet", Carrier("13.0", without=("cudaFree",)))
    assert place.run(program, ANYWARP_LOG="off").stderr == ""
    assert "N003" in place.run(program, ANYWARP_LOG="offset").stderr


def test_code_that_memory_holds_otherwise_than_the_file_is_left_alone(place):
    """A second auditor finds the first one's jumps where the file has other code."""
    second = place.folder / "second"
    second.mkdir()
    auditor = shutil.copy(place.folder / LIBRARIES[0], second)
    program = build(place.folder, "twice", Carrier("13.0"))
    ran = place.run(program, LD_AUDIT=f"{place.folder / LIBRARIES[0]}:{auditor}")
    assert without_wide(ran.stdout) == expected("13.0")
    assert "N003" in ran.stderr
    assert "not that of the file" in ran.stderr


def test_a_library_opened_by_its_descriptor(place, library):
    script = "import ctypes, os, sys\nprint(ctypes.CDLL(f'/proc/self/fd/{os.open(sys.argv[1], os.O_RDONLY)}').work())\n"
    ran = place.run(sys.executable, "-c", script, library)
    assert int(ran.stdout) == answer("13.0", "cudaDeviceSynchronize")


def test_symbolic_links_and_relative_paths(place, library):
    link = place.folder / "link.so"
    link.symlink_to(library.name)
    script = "import ctypes; print(ctypes.CDLL('./link.so').work())"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **place.environment()},
        cwd=place.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(ran.stdout) == answer("13.0", "cudaDeviceSynchronize")
