"""Native programs: those that use the driver from many threads and to their very end, and one that checks the parts below it."""

import hashlib
import os
import random
import subprocess

import pytest

from native import kernels
from native.by_hand import ROOT, library_path
from native.hip import rig

pytestmark = pytest.mark.native


def build(tmp_path, name, *more):
    program = tmp_path / name
    command = [
        "g++",
        "-std=c++20",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{ROOT}/native",
        f"{ROOT}/tests/native/{name}.cpp",
    ]
    subprocess.run([*command, *more, "-o", str(program), "-lpthread"], check=True)
    return program


def test_threads_share_a_context(tmp_path, handmade):
    program = build(tmp_path, "stress", str(library_path()))
    image = tmp_path / "image"
    image.write_bytes(handmade.module(kernels.VECADD))
    environment = dict(os.environ, LD_LIBRARY_PATH=str(library_path().parent))
    for threads in ("1", "2", "5"):
        done = subprocess.run(
            [str(program), str(image)],
            env={**environment, "ANYWARP_THREADS": threads},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("device", ["cpu", "hip"])
def test_what_ends_with_a_thread_or_the_program_still_has_its_context(tmp_path, device):
    """POSIX, exit and pthread_exit: destructors run on the thread that ends; a context is current until it is popped or destroyed."""
    environment = dict(os.environ, LD_LIBRARY_PATH=str(library_path().parent))
    if device == "hip":
        environment = rig.environment(tmp_path, ANYWARP_DEVICE="hip")
    library = library_path().parent / ("hip" if device == "hip" else ".") / "libcuda.so.1"
    program = build(tmp_path, "endings", str(library))
    done = subprocess.run([str(program)], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    places = ("other thread", "main thread", "program")
    assert done.stdout.splitlines() == [f"{place}: the context, 0 0 0" for place in places]


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    core = [f"{ROOT}/native/core/{name}.cpp" for name in ("sha256", "text", "container", "ptx_linker")]
    program = build(tmp_path_factory.mktemp("parts"), "parts", *core)

    def run(*arguments, data=b""):
        return subprocess.run([str(program), *arguments], input=data, capture_output=True, timeout=30)

    return run


@pytest.mark.parametrize("size", [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 100_000])
def test_digests_are_those_of_hashlib(parts, size):
    data = random.Random(size).randbytes(size)
    for step in ("1", "7", "64", "100000"):
        assert parts("sha256", step, data=data).stdout.decode() == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("text", ["plain", "a b", "100%", "%41", "tab\tline\n", "ümläut", "", "%", "%4", "a%zz"])
def test_names_survive_a_line(parts, text):
    encoded = parts("encode", data=text.encode()).stdout
    assert all(0x20 < c < 0x7F for c in encoded)
    assert parts("decode", data=encoded).stdout.decode() == text


def test_texts_that_were_never_encoded_are_left_as_they_are(parts):
    for text in (b"%", b"%4", b"a%zz", b"%g1"):
        assert parts("decode", data=text).stdout == text


PIECE = """.version 7.0
.target sm_70
.address_size 64
// .visible .func not_this() {}
.weak .func shared_by_all() { ret; }
.global .align 4 .b8 text[4] = {123, 125, 59, 0};
.visible .func NAME(.param .b64 p) .noreturn { .reg .b32 %r1; /* } */ { ret; } }
"""


def test_linking_takes_one_of_each_weak_name(parts, tmp_path):
    paths = []
    for name in ("one", "two"):
        path = tmp_path / name
        path.write_text(PIECE.replace("NAME", name))
        paths.append(str(path))
    linked = parts("link", *paths).stdout.decode()
    assert linked.count("shared_by_all()") == 1 and linked.count(".version") == 1
    assert ".func one(" in linked and ".func two(" in linked
    assert "text[4]" in linked and "text$1[4]" in linked


@pytest.mark.parametrize(
    "text", ["", "{", "}", ".version", ".version 7.0\n.func f() {", '.version 7.0\n.pragma "', ".version 7.0\n/*", "\0"]
)
def test_linking_refuses_what_is_no_module(parts, tmp_path, text):
    whole, bad = tmp_path / "whole", tmp_path / "bad"
    whole.write_text(PIECE.replace("NAME", "one"))
    bad.write_text(text)
    done = parts("link", str(whole), str(bad))
    assert done.returncode in (0, 3), done.stderr


def test_linking_survives_any_damage(parts, tmp_path):
    whole, bad = tmp_path / "whole", tmp_path / "bad"
    whole.write_text(PIECE.replace("NAME", "one"))
    good = PIECE.replace("NAME", "two").encode()
    chance = random.Random(1)
    for _ in range(150):
        data = bytearray(good[: chance.randrange(len(good))] + good[chance.randrange(len(good)) :])
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.choice(b'{}();"/*.\\\n\0')
        bad.write_bytes(data)
        assert parts("link", str(whole), str(bad)).returncode in (0, 3)


def test_containers_are_read_only_whole(parts):
    from native.by_hand import container

    good = container([("kind", "kernel"), ("name", "a b")], b"payload")
    assert parts("container", data=good).stdout.decode() == "kind|kernel\nname|a b\npayload"
    for at in range(len(good)):
        data = bytearray(good)
        data[at] ^= 1
        assert parts("container", data=bytes(data)).returncode == 3
        assert parts("container", data=good[:at]).returncode == 3
