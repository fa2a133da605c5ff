"""What decides whether a release is made: two builds are compared member by member, and hosted CI runs the jobs that there are."""

import ctypes
import importlib.util
import io
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def build():
    """Return scripts/releasing/build.py, which is no part of the package."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        yield importlib.import_module("releasing.build")
    finally:
        sys.path.remove(str(ROOT / "scripts"))


def wheel(path: Path, members: dict[str, bytes], date=(2026, 1, 2, 3, 4, 6)) -> Path:
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as files:
        for name, content in members.items():
            files.writestr(zipfile.ZipInfo(name, date), content)
    return path


def test_equal_wheels_do_not_differ(build, tmp_path):
    members = {"a.py": b"1", "lib/b.so": b"2"}
    assert build.differences(wheel(tmp_path / "1/w.whl", members), wheel(tmp_path / "2/w.whl", members)) == []


def test_members_that_differ_are_named(build, tmp_path):
    one = wheel(tmp_path / "1/w.whl", {"a.py": b"1", "b.so": b"2", "c": b""})
    other = wheel(tmp_path / "2/w.whl", {"a.py": b"1", "b.so": b"3", "d": b""})
    assert build.differences(one, other) == ["b.so: differs", "c: in one only", "d: in one only"]


def test_a_time_alone_is_a_difference(build, tmp_path):
    one = wheel(tmp_path / "1/w.whl", {"a": b"1"})
    other = wheel(tmp_path / "2/w.whl", {"a": b"1"}, date=(2026, 1, 2, 3, 4, 8))
    assert build.differences(one, other) == ["w.whl: the members are equal, their order, times or modes are not"]


def test_source_archives_are_compared_too(build, tmp_path):
    archives = []
    for content in (b"1", b"2"):
        archives.append(tmp_path / f"{content.decode()}.tar.gz")
        with tarfile.open(archives[-1], "w:gz") as files:
            member = tarfile.TarInfo("a/b.py")
            member.size = len(content)
            files.addfile(member, io.BytesIO(content))
    assert build.differences(*archives) == ["a/b.py: differs"]


def test_a_build_knows_nothing_of_its_surroundings(build, tmp_path, monkeypatch):
    toolchain = importlib.import_module("releasing.toolchain")
    monkeypatch.setenv("CFLAGS", "-march=native")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    made = build.environment(toolchain.Tools(tmp_path / "tools", "x86_64"), tmp_path, 1234)
    assert "CFLAGS" not in made and "PYTHONPATH" not in made
    assert made["SOURCE_DATE_EPOCH"] == "1234"


def test_what_others_wrote_is_in_every_paper(build):
    carried = importlib.import_module("releasing.carried").CARRIED
    assert {each.folder for each in carried} == {
        each.name for each in (ROOT / "native/third_party").iterdir() if each.is_dir()
    }
    terms = {each.license_file for each in carried}
    assert terms | {"zig.txt"} == {each.name for each in (ROOT / "native/licenses").iterdir()}
    for paper in ("NOTICE", "docs/legal.md"):
        text = (ROOT / paper).read_text()
        for each in carried:
            words = (each.name, each.authors, each.terms, each.library, f"native/licenses/{each.license_file}")
            assert [word for word in words if word not in text] == [], paper


@pytest.fixture(scope="module")
def standins(build):
    return importlib.import_module("releasing.standins")


def test_stand_ins_are_for_the_last_four_minor_versions_of_torch_that_a_wheel_of_x86_64_has_headers_of(standins):
    wanted = [each for each in standins.inputs("x86_64") if each.package == "torch"]
    minors = [tuple(map(int, each.version.split(".")[:2])) for each in wanted]
    assert minors == [(minors[0][0], minors[0][1] + number) for number in range(4)]
    assert all(each.file.endswith("-win_amd64.whl") and f"-{each.version}-" in each.file for each in wanted)
    assert {each.kind for each in standins.inputs("x86_64")} == {"pypi", "debian"}


def test_a_machine_without_rows_has_no_stand_ins(standins):
    assert standins.inputs("aarch64") == []


LIBRARY = """
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

static int alive;
struct Boom : std::runtime_error {
  Boom() : std::runtime_error("boom") { ++alive; }
  Boom(const Boom& other) : std::runtime_error(other) { ++alive; }
  ~Boom() { --alive; }
};
static std::exception_ptr caught() {
  try { throw Boom(); } catch (...) { return std::current_exception(); }
}
extern "C" int pointers() {
  int count = 0;
  {
    std::exception_ptr one = caught();
    std::vector<std::exception_ptr> more(5, one);
    for (auto& each : more) try { std::rethrow_exception(each); } catch (const Boom&) { ++count; }
    one = nullptr;
    if (alive != 1) return -1;
  }
  return alive ? -2 : count;
}
extern "C" int streams() {
  std::stringstream both;
  both << "a" << 12;
  char letter;
  int number;
  both >> letter >> number;
  std::stringbuf buffer;
  buffer.sputn("hey", 3);
  std::string moved = std::move(buffer).str();
  std::ostringstream out;
  out << moved << buffer.str() << letter << number;
  return out.str() == "heya12" ? 1 : -1;
}
extern "C" int waiting() {
  std::mutex mutex;
  std::condition_variable condition;
  bool ready = false;
  std::thread other([&] { std::lock_guard lock(mutex); ready = true; condition.notify_one(); });
  { std::unique_lock lock(mutex); condition.wait(lock, [&] { return ready; }); }
  other.join();
  return 1;
}
namespace std { [[noreturn]] void __throw_bad_array_new_length(); }
extern "C" int sizes() {
  try { std::__throw_bad_array_new_length(); } catch (const std::bad_array_new_length&) { return 1; }
}
"""


@pytest.fixture(scope="module")
def libraries(standins, tmp_path_factory):
    """Return a library without and with what GCC 8's libstdc++ lacks, compiled with this machine's g++."""
    place = tmp_path_factory.mktemp("libstdcxx")
    (place / "library.cpp").write_text(LIBRARY)
    # Inlining would leave less to ask for: what clang inlines and what GCC does differs.
    flags = ["-O0", "-fPIC", "-pthread"]
    subprocess.run(["g++", "-std=c++20", *flags, "-c", "library.cpp"], cwd=place, check=True)
    subprocess.run(
        ["g++", "-std=c++17", *flags, "-fvisibility=hidden", "-c", standins.OURS / "nonshared.cpp"],
        cwd=place,
        check=True,
    )
    subprocess.run(["g++", "-shared", "-pthread", "library.o", "-o", "without.so"], cwd=place, check=True)
    subprocess.run(["g++", "-shared", "-pthread", "library.o", "nonshared.o", "-o", "with.so"], cwd=place, check=True)
    return place / "without.so", place / "with.so"


def test_symbols_of_a_newer_libstdcxx_than_the_tag_allows_are_named(standins, libraries):
    found = standins.too_new(libraries[0])
    assert "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEC1Ev (GLIBCXX_3.4.26)" in found
    assert standins.too_new(libraries[1]) == []


@pytest.mark.parametrize(("name", "expected"), [("pointers", 5), ("streams", 1), ("waiting", 1), ("sizes", 1)])
def test_what_an_older_libstdcxx_lacks_works(libraries, name, expected):
    assert getattr(ctypes.CDLL(str(libraries[1])), name)() == expected


def test_tools_are_exact():
    lines = (ROOT / "scripts/releasing/requirements.txt").read_text().splitlines()
    assert [each for each in lines if not re.fullmatch(r"#.*|[\w.-]+==[\w.]+", each)] == []


def workflow(name):
    return YAML(typ="safe").load(ROOT / ".github/workflows" / name)


def test_hosted_ci_runs_each_executable_of_the_folder_of_jobs():
    steps = workflow("ci.yml")["jobs"]["list"]["steps"]
    (script,) = (step["run"] for step in steps if "run" in step)
    found = shlex.split(script.partition("|")[0])
    assert found[:2] == ["find", "scripts/ci.d"]
    listed = subprocess.run(found, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    named = [path for path in (ROOT / "scripts/ci.d").iterdir() if path.suffix not in (".sh", ".md")]
    assert sorted(listed) == sorted(path.name for path in named)
    assert {"wheel", "reproducible", "aarch64", "python-3.10", "python-3.14"} <= set(listed)


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_workflows_start_with_the_least_rights(name):
    assert workflow(name)["permissions"] == {"contents": "read"}
