"""Files whose section headers and symbols lie: the loader does not read them, the auditor does, and neither may fall over."""

import random
import struct
import sys

import pytest

from native.static_runtime import CARRIED, Carrier, answer, build, make_place

pytestmark = pytest.mark.native

SECTION = struct.Struct(
    "<IIQQQQIIQQ"
)  # sh_name sh_type sh_flags sh_addr sh_offset sh_size sh_link sh_info sh_addralign sh_entsize
SYMBOL = struct.Struct("<IBBHQQ")  # st_name st_info st_other st_shndx st_value st_size
SECTIONS_AT, SECTION_COUNT_AT = 0x28, 0x3C
NAME, TYPE, FLAGS, ADDRESS, OFFSET, SIZE, LINK, INFO, ALIGN, ENTRY = range(10)
SYMBOLS = 2  # SHT_SYMTAB
REDIRECTED = answer("13.0", "cudaDeviceSynchronize")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return make_place(tmp_path_factory.mktemp("rebind"))


@pytest.fixture(scope="module")
def image(place):
    return build(place.folder, "libhostile.so", Carrier("13.0", shared=True)).read_bytes()


def sections(image):
    """Return where the section headers lie, and their fields."""
    (at,) = struct.unpack_from("<Q", image, SECTIONS_AT)
    (count,) = struct.unpack_from("<H", image, SECTION_COUNT_AT)
    return at, [list(SECTION.unpack_from(image, at + i * SECTION.size)) for i in range(count)]


def symbol_section(image):
    at, found = sections(image)
    number = next(i for i, fields in enumerate(found) if fields[TYPE] == SYMBOLS)
    return at + number * SECTION.size, found[number]


def with_section(image, **changes):
    """Return the image with fields of its symbol table's header changed."""
    place, fields = symbol_section(image)
    for name, value in changes.items():
        fields[globals()[name]] = value
    changed = bytearray(image)
    SECTION.pack_into(changed, place, *fields)
    return bytes(changed)


def patched(image, at, layout, *values):
    changed = bytearray(image)
    struct.pack_into(layout, changed, at, *values)
    return bytes(changed)


def load(place, name, image):
    """Load a library in a process of its own; return what it answers and what was said."""
    path = place.folder / name
    path.write_bytes(image)
    ran = place.run(sys.executable, "-c", "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).work())", path)
    assert ran.returncode == 0, ran
    return int(ran.stdout), ran.stderr


def test_the_image_itself_is_redirected(place, image):
    assert load(place, "sound.so", image) == (REDIRECTED, "")


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"OFFSET": 1 << 62}, "symbol table lies outside"),
        ({"SIZE": (1 << 64) - 24}, "symbol table lies outside"),
        ({"OFFSET": (1 << 64) - 8, "SIZE": 24}, "symbol table lies outside"),
        ({"LINK": 0xFFFFFFFF}, "names of its symbols"),
        ({"LINK": 0}, "names of its symbols"),
        ({"ENTRY": 0}, "symbols have a wrong size"),
        ({"ENTRY": 1}, "symbols have a wrong size"),
    ],
)
def test_a_lying_header_of_the_symbol_table_is_said(place, image, what, said):
    answered, words = load(place, "header.so", with_section(image, **what))
    assert answered == CARRIED
    assert words.startswith("anywarp: warning[N005]")
    assert said in words


def test_a_symbol_table_cut_short_is_refused(place, image):
    _, fields = symbol_section(image)
    answered, words = load(place, "short.so", with_section(image, SIZE=fields[SIZE] // 2))
    assert answered == CARRIED
    assert "N003" in words


def test_section_headers_outside_the_file(place, image):
    answered, words = load(place, "outside.so", patched(image, SECTIONS_AT, "<Q", len(image) - 100))
    assert answered == CARRIED
    assert "N005" in words


def test_a_huge_number_of_sections(place, image):
    assert load(place, "many.so", patched(image, SECTION_COUNT_AT, "<H", 0xFFFF)) == (REDIRECTED, "")
    at, _ = sections(image)
    extended = patched(patched(image, SECTION_COUNT_AT, "<H", 0), at + 32, "<Q", (1 << 64) - 1)
    assert load(place, "extended.so", extended) == (REDIRECTED, "")


def test_section_headers_of_another_size(place, image):
    answered, words = load(place, "entsize.so", patched(image, 0x3A, "<H", 0))
    assert answered == CARRIED
    assert "N005" in words


def symbols(image):
    """Yield the place and fields of each symbol, and its name."""
    _, fields = symbol_section(image)
    _, all_sections = sections(image)
    names = all_sections[fields[LINK]]
    for at in range(fields[OFFSET], fields[OFFSET] + fields[SIZE], SYMBOL.size):
        symbol = SYMBOL.unpack_from(image, at)
        start = names[OFFSET] + symbol[0]
        yield at, symbol, image[start : image.index(b"\0", start)].decode()


def with_symbol(image, wanted, **changes):
    at, symbol = next((at, list(symbol)) for at, symbol, name in symbols(image) if name == wanted)
    for field, value in changes.items():
        symbol[("st_name", "st_info", "st_other", "st_shndx", "st_value", "st_size").index(field)] = value
    return patched(image, at, SYMBOL.format, *symbol)


@pytest.mark.parametrize("address", [0, 8, 1 << 40, (1 << 64) - 1, (1 << 64) - 14])
def test_an_entry_that_lies_outside_the_code_is_refused(place, image, address):
    answered, words = load(place, "address.so", with_symbol(image, "cudaFree", st_value=address))
    assert answered == CARRIED
    assert "N003" in words


def test_an_entry_in_the_midst_of_another_is_refused(place, image):
    value = next(symbol[4] for _, symbol, name in symbols(image) if name == "cudaMalloc")
    answered, words = load(place, "midst.so", with_symbol(image, "cudaFree", st_value=value + 4))
    assert answered == CARRIED
    assert "N003" in words


def test_a_name_outside_the_names_is_an_entry_missing(place, image):
    answered, words = load(place, "name.so", with_symbol(image, "cudaFree", st_name=0xFFFFFFF0))
    assert answered == CARRIED
    assert "cudaFree is missing" in words


def test_random_damage_redirects_all_or_nothing_and_never_fails(place, image):
    """Section headers, symbols and their names are not the loader's: with any bytes there the library loads and works."""
    rng = random.Random(5)
    at, all_sections = sections(image)
    _, table = symbol_section(image)
    names = all_sections[table[LINK]]
    targets = [
        (at, len(all_sections) * SECTION.size),
        (table[OFFSET], table[SIZE]),
        (names[OFFSET], names[SIZE]),
        (SECTIONS_AT, 8),
        (0x3A, 6),
    ]
    paths = []
    for number in range(120):
        damaged = bytearray(image)
        start, size = rng.choice(targets)
        for _ in range(rng.choice((1, 2, 8, 64))):
            damaged[start + rng.randrange(size)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        path = place.folder / f"random{number}.so"
        path.write_bytes(damaged)
        paths.append(path)
    script = "import ctypes, sys\nfor path in sys.argv[1:]:\n    print(ctypes.CDLL(path).work(), flush=True)"
    ran = place.run(sys.executable, "-c", script, *paths)
    assert ran.returncode == 0, ran
    answers = list(map(int, ran.stdout.split()))
    assert len(answers) == len(paths)
    assert set(answers) == {CARRIED, REDIRECTED}
    refused = sum(line.startswith("anywarp: ") for line in ran.stderr.splitlines())
    assert refused <= answers.count(CARRIED)
