"""How programs come to our runtime library: by name, by symbol version, before another library of that name; and after a fork."""

import os
import re
import subprocess
import sys

import pytest

from anywarp.catalogue.runtime import load
from anywarp.runtime import launch
from native.by_hand import library_path

LIBRARIES = {major: library_path().with_name(f"libcudart.so.{major}") for major in (12, 13)}
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not LIBRARIES[13].exists(), reason="needs scripts/build"),
]
DECOY = "int cudaRuntimeGetVersion(int* v) { *v = -1; return 0; }"
CLIENT = "int cudaRuntimeGetVersion(int*); int ask(void) { int v = 0; cudaRuntimeGetVersion(&v); return v; }"


def script(text, same_compiler, **more):
    """Run Python code in a process that finds our libraries; returns what it printed."""
    environment = dict(os.environ, LD_LIBRARY_PATH=str(library_path().parent), **more)
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("major", [12, 13])
def test_every_function_has_the_symbol_version_of_the_original(major):
    done = subprocess.run(["readelf", "--dyn-syms", "-W", LIBRARIES[major]], capture_output=True, text=True, check=True)
    found = dict(re.findall(r" (\w+)@@(\S+)", done.stdout))
    wanted = [row.name for row in load().rows if major in row.majors]
    assert {name: found.get(name) for name in wanted} == dict.fromkeys(wanted, f"libcudart.so.{major}")
    dynamic = subprocess.run(["readelf", "-d", LIBRARIES[major]], capture_output=True, text=True, check=True).stdout
    assert f"soname: [libcudart.so.{major}]" in dynamic and "[libcuda.so.1]" in dynamic


def test_both_versions_in_one_process_share_the_device(same_compiler):
    text = """if True:
        import ctypes
        old, new = ctypes.CDLL("libcudart.so.12"), ctypes.CDLL("libcudart.so.13")
        p, v, got = ctypes.c_void_p(), ctypes.c_int(), ctypes.create_string_buffer(4)
        print(old.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(100)))
        print(new.cudaMemset(p, 7, ctypes.c_size_t(100)), new.cudaMemcpy(got, p, ctypes.c_size_t(4), 2), got.raw.hex())
        print(new.cudaMalloc(None, ctypes.c_size_t(4)), new.cudaGetLastError(), old.cudaGetLastError())
    """
    assert script(text, same_compiler).split() == ["0", "0", "0", "07070707", "1", "1", "0"]


@pytest.mark.parametrize("major", [12, 13])
def test_a_library_with_a_path_of_its_own_gets_ours(major, tmp_path, same_compiler):
    def compiled(name, text, *flags):
        (tmp_path / "source.c").write_text(text)
        subprocess.run(["gcc", "-shared", "-fPIC", "source.c", "-o", name, *flags], check=True, cwd=tmp_path)
        return tmp_path / name

    (tmp_path / "map").write_text(f"libcudart.so.{major} {{ global: cuda*; local: *; }};")  # as NVIDIA's has it
    compiled(f"libcudart.so.{major}", DECOY, f"-Wl,-soname,libcudart.so.{major},--version-script,map")
    path = f"-Wl,--disable-new-dtags,-rpath,{tmp_path}"  # an RPATH, which comes before LD_LIBRARY_PATH
    client = compiled("client.so", CLIENT, f"./libcudart.so.{major}", path)
    text = f"import ctypes; print(ctypes.CDLL({str(client)!r}).ask())"
    assert script(text, same_compiler).split() == ["-1"]
    made = launch.environment("cpu", dict(os.environ))
    told = {name: made[name] for name in ("LD_PRELOAD", "LD_AUDIT") if name in made}
    assert int(script(text, same_compiler, **told)) // 1000 == major


def test_a_forked_child_is_told_that_the_device_does_not_cross(same_compiler):
    text = """if True:
        import ctypes, os
        rt = ctypes.CDLL("libcudart.so.13")
        p = ctypes.c_void_p()
        assert rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(100)) == 0
        child = os.fork()
        if not child:
            os._exit(rt.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(100)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(rt.cudaFree(p))
    """
    assert script(text, same_compiler).split() == ["3", "0"]  # cudaErrorInitializationError


def test_a_process_that_forks_first_may_use_the_device_in_its_child(same_compiler):
    text = """if True:
        import ctypes, os
        rt = ctypes.CDLL("libcudart.so.13")
        v = ctypes.c_int()
        rt.cudaDriverGetVersion(ctypes.byref(v))
        child = os.fork()
        if not child:
            os._exit(rt.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(100)) + 40)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert script(text, same_compiler).split() == ["40"]


def test_each_thread_has_its_own_last_error_and_device(same_compiler):
    text = """if True:
        import ctypes, threading
        rt = ctypes.CDLL("libcudart.so.13")
        def device():
            v = ctypes.c_int(9); rt.cudaGetDevice(ctypes.byref(v)); return v.value
        print(rt.cudaSetDevice(1), device(), rt.cudaMalloc(None, ctypes.c_size_t(1)))
        def other():
            print(device(), rt.cudaPeekAtLastError())
        t = threading.Thread(target=other); t.start(); t.join()
        print(device(), rt.cudaGetLastError())
    """
    assert script(text, same_compiler, ANYWARP_DEVICES="2").split() == ["0", "1", "1", "0", "0", "1", "1"]


def test_absent_functions_say_so(same_compiler, capfd):
    name = next(row.name for row in load().rows if row.route == "absent" and 13 in row.majors)
    text = f"import ctypes; print(ctypes.CDLL('libcudart.so.13')['{name}']())"
    assert script(text, same_compiler).split() == ["801"]
