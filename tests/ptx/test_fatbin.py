"""Images come out of every kind of container; damage ends in a diagnostic and no claim of a header is believed."""

import random
import struct
import subprocess
import tracemalloc
from contextlib import contextmanager

import pytest
import zstandard

from anywarp.diagnostics import AnywarpError
from anywarp.ptx import fatbin as reader
from fakes.gpu_images import CUBIN, LZ4, PTX, ZSTD, cubin, elf, fatbin, image, ptx

TEXT = ptx("a", "b") + b"// filler\n" * 50


def read(data):
    return [(i.kind, i.target, i.compression, i.payload()) for i in reader.images(data)]


def code(call):
    with pytest.raises(AnywarpError) as caught:
        call()
    assert caught.value.diagnostic.as_text()
    return caught.value.diagnostic.code


@contextmanager
def at_most(size):
    """Fail when more than `size` bytes are allocated at once inside."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < size
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("compress", ["none", "lz4", "zstd"])
def test_each_compression(compress):
    data = fatbin(
        image(TEXT, compress=compress, arch=90, version=(8, 7)), image(cubin(["k"]), CUBIN, 75, compress=compress)
    )
    first, second = reader.images(data)
    assert (first.kind, first.arch, first.version, first.compression) == ("ptx", 90, (8, 7), compress)
    assert first.payload().rstrip(b"\0") == TEXT
    assert second.target == "sm_75" and reader.kernels(second.payload()) == ("k",)


def test_options_variants_and_unknown_kinds():
    data = fatbin(
        image(TEXT, arch=90, kind_flags=0x100000, options=b"\x48\0\0\0\x10\0\0\0--compile-only  "),
        image(TEXT, arch=100, kind_flags=0x200000),
        image(b"bitcode!", 16),
    )
    assert [(i.kind, i.target) for i in reader.images(data)] == [
        ("ptx", "sm_90a"),
        ("ptx", "sm_100f"),
        ("other", "sm_80"),
    ]


def test_fat_binaries_in_a_row():
    data = fatbin(image(TEXT)) + b"\0" * 24 + fatbin() + fatbin(image(TEXT, arch=86)) + b"\0" * 40
    assert [t for _, t, _, _ in read(data)] == ["sm_80", "sm_86"]


@pytest.mark.parametrize("section", [".nv_fatbin", "__nv_relfatbin"])
def test_sections_of_a_library(section):
    assert read(elf({".text": b"code", section: fatbin(image(TEXT))})) == [
        ("ptx", "sm_80", "none", TEXT + b"\0" * (-len(TEXT) % 8))
    ]


@pytest.mark.parametrize("relocated", [False, True])
def test_wrappers_lead_to_a_section_of_another_name(relocated):
    data = fatbin(image(TEXT))
    wrapper = struct.pack("<IIQQ", 0x466243B1, 1, 0 if relocated else 0x5000, 0)
    sections = {".hidden": (data, 0x5000), ".nvFatBinSegment": (wrapper, 0x9000)}
    if relocated:
        sections[".rela.dyn"] = (struct.pack("<QQq", 0x9008, 8, 0x5000), 0)
    found = read(elf(sections, segments=[(".hidden", 0x5000, len(data))]))
    assert [(k, t) for k, t, _, _ in found] == [("ptx", "sm_80")]


def test_wrapper_in_front_of_its_fat_binary():
    wrapper = struct.pack("<IIQQ", 0x466243B1, 1, 24, 0)
    assert len(read(wrapper + fatbin(image(TEXT)))) == 1
    assert code(lambda: read(wrapper)) == "P020"


def test_a_library_without_gpu_code_has_no_images():
    assert read(elf({".text": b"code"})) == []
    assert reader.best_ptx(elf({".text": b"code"})) is None


def test_cubin_by_itself():
    data = cubin(["one", "two"], 90, helpers=["helper"])
    (found,) = reader.images(data)
    assert (found.kind, found.arch, found.payload()) == ("cubin", 90, data)
    assert reader.kernels(data) == ("one", "two")


def test_cubin_without_marks_names_every_text_section():
    assert reader.kernels(elf({".text.a": b"x", ".text": b"x", ".text.b": b"x"}, 190)) == ("a", "b")


def test_ptx_text():
    (found,) = reader.images(b"/* c */ // d\n\n" + ptx("k", target="sm_90a"))
    assert (found.kind, found.target, found.version) == ("ptx", "sm_90a", (8, 0))
    assert code(lambda: read(b".version 8.0\n")) == "P007"


def test_best_ptx_is_the_highest():
    data = fatbin(
        image(TEXT, arch=80),
        image(TEXT, arch=120, version=(9, 0)),
        image(TEXT, arch=120, kind_flags=0x100000),
        image(TEXT, arch=90),
    )
    best = reader.best_ptx(data)
    assert (best.arch, best.variant) == (120, "")


@pytest.mark.parametrize("data", [b"", b"\0", b"hello", b"PK\3\4", b"\0" * 100, b"\x7fELF", bytes(range(256))])
def test_other_data_is_refused(data):
    assert code(lambda: read(data)) in ("P020", "P025")


@pytest.mark.parametrize("compress", ["none", "lz4", "zstd"])
def test_every_truncation_is_reported(compress):
    data = fatbin(image(TEXT, compress=compress))
    assert {code(lambda n=n: read(data[:n])) for n in range(4, len(data))} <= {"P021", "P020"}


@pytest.mark.parametrize("compress", ["none", "lz4", "zstd"])
def test_every_header_byte_flipped(compress):
    """Every bit and the extreme values of each header byte: a diagnostic, or the payload, or payload bytes under another label; never more memory."""
    data = fatbin(image(TEXT, compress=compress), image(TEXT, compress=compress, arch=90))
    padded = TEXT + b"\0" * (-len(TEXT) % 8)
    second = len(image(TEXT, compress=compress)) + 16
    outcomes = {"right": 0, "refused": 0}
    with at_most(8 << 20):
        for at in (*range(16 + 64), *range(second, second + 64)):
            for value in {0, 1, 2, 0x7F, 0x80, 0xFF, *(data[at] ^ 1 << bit for bit in range(8)), data[at] ^ 0xFF}:
                changed = data[:at] + bytes([value]) + data[at + 1 :]
                try:
                    for _, _, _, payload in read(changed):
                        outcomes["right"] += payload in (TEXT, padded)
                except AnywarpError as error:
                    outcomes["refused"] += 1
                    assert error.diagnostic.code in ("P020", "P021", "P022", "P023", "P024")
    assert outcomes["right"] > 500 and outcomes["refused"] > 500


def test_every_byte_of_a_compressed_payload_flipped():
    for compress in ("lz4", "zstd"):
        entry = image(TEXT, compress=compress)
        for at in range(64, len(entry)):
            changed = entry[:at] + bytes([entry[at] ^ 0x5A]) + entry[at + 1 :]
            try:
                assert len(read(fatbin(changed))[0][3]) == len(TEXT)
            except AnywarpError as error:
                assert error.diagnostic.code == "P022"


def entry_with(payload, flags, size):
    stored = payload + b"\0" * (-len(payload) % 8)
    return (
        struct.pack("<HHIQIIHHIIIQQQ", PTX, 0x101, 64, len(stored), len(payload), 0, 0, 8, 80, 0, 0, flags, 0, size)
        + stored
    )


def test_a_zstd_bomb_is_stopped():
    bomb = zstandard.ZstdCompressor(level=19).compress(b"\0" * (1 << 28))
    assert len(bomb) < 1 << 16
    with at_most(8 << 20):
        assert code(lambda: read(fatbin(entry_with(bomb, ZSTD, 1000)))) == "P022"
        assert code(lambda: read(fatbin(entry_with(bomb, ZSTD, 1 << 40)))) == "P023"
        (found,) = reader.images(fatbin(entry_with(bomb, ZSTD, 1 << 28)))
        assert code(lambda: found.payload(limit=1 << 20)) == "P023"


def test_false_claims_allocate_nothing():
    small = zstandard.ZstdCompressor(write_content_size=False).compress(b"abc")
    with at_most(8 << 20):
        assert code(lambda: read(fatbin(entry_with(b"\x10a", LZ4, 1 << 30)))) == "P022"
        assert code(lambda: read(fatbin(entry_with(small, ZSTD, 1 << 30)))) == "P022"


def test_both_compressions_at_once_are_refused():
    assert code(lambda: read(fatbin(entry_with(b"abc", LZ4 | ZSTD, 3)))) == "P024"


def test_every_header_byte_of_an_elf_file_flipped():
    for data in (elf({".nv_fatbin": fatbin(image(TEXT))}), cubin(["k"], helpers=["h"])):
        tables = range(len(data) - 64 * 6, len(data))
        for at in (*range(64), *tables):
            for value in (0, 1, 0x7F, 0x80, 0xFF, data[at] ^ 1):
                changed = data[:at] + bytes([value]) + data[at + 1 :]
                try:
                    for found in reader.images(changed):
                        if found.kind == "cubin":
                            reader.kernels(found.payload())
                except AnywarpError as error:
                    assert error.diagnostic.code in ("P020", "P021", "P025")


def test_random_damage():
    rng = random.Random(3)
    good = elf(
        {
            ".text.k": b"x",
            ".nv_fatbin": fatbin(image(TEXT, compress="zstd"), image(cubin(["k"]), CUBIN, compress="lz4")),
        }
    )
    for _ in range(2000):
        changed = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        try:
            for found in reader.images(bytes(changed)):
                payload = found.payload()
                if found.kind == "cubin":
                    reader.kernels(payload)
        except AnywarpError:
            pass


@pytest.mark.nvcc
def test_what_nvcc_writes(tmp_path):
    source = tmp_path / "k.cu"
    source.write_text(
        'extern "C" __global__ void scale(float *x) { x[threadIdx.x] *= 2; }\nint main() { scale<<<1, 1>>>(nullptr); }\n'
    )
    arch = [
        "-gencode",
        "arch=compute_90a,code=[sm_90a,compute_90a]",
        "-gencode",
        "arch=compute_80,code=[sm_80,compute_80]",
    ]
    for kind, name in (("-fatbin", "k.fatbin"), ("-c", "k.o")):
        subprocess.run(["nvcc", kind, *arch, str(source), "-o", str(tmp_path / name)], check=True)
        found = list(reader.images((tmp_path / name).read_bytes()))
        assert sorted((i.kind, i.target) for i in found) == [
            ("cubin", "sm_80"), ("cubin", "sm_90a"), ("ptx", "sm_80"), ("ptx", "sm_90a"),
        ]  # fmt: skip
        assert all(reader.kernels(i.payload()) == ("scale",) for i in found if i.kind == "cubin")
        assert all(b".entry scale(" in i.payload() for i in found if i.kind == "ptx")
