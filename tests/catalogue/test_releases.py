"""Releases of ROCm and architectures stand once, and the tables that were read from them agree."""

from pathlib import Path

import pytest

from anywarp.catalogue import generate_architectures
from anywarp.catalogue.architectures import architecture, architectures
from anywarp.catalogue.releases import LENDER, NEWEST, RELEASES, USUAL, having, releases
from anywarp.catalogue.rocm import TableError
from anywarp.catalogue.rocm_checks import load_symbols
from anywarp.devices.hip.tables import gpus

ROOT = Path(__file__).resolve().parents[2]


def test_what_a_release_exports_is_listed_for_each_library_that_was_read():
    symbols = {(library, release) for library, versions in load_symbols().items() for release in versions}
    named = {(library, one.number) for one in releases() for library in one.read}
    assert symbols == {pair for pair in named if pair[0] not in ("hip_api", "device", "miopen")}


def test_the_newest_usual_and_lending_releases_are_told_apart():
    assert RELEASES[-1] == NEWEST
    assert {USUAL, LENDER} <= set(RELEASES)
    with pytest.raises(KeyError, match=r"releases\.tsv"):
        having("hipfoo")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["7.1\t\tyes\tusual lends\t", "6.4\t\tyes\t\t"], "out of order"),
        (["6.4\t\tyes\tlends\t"], "the usual one"),
        (["6.4\t\tno\tusual lends\t"], "told apart"),
        (["6.4\t\tyes\tusual lends best\t"], "marks"),
    ],
)
def test_a_table_of_releases_that_contradicts_itself_is_refused(tmp_path: Path, rows: list[str], words: str):
    path = tmp_path / "releases.tsv"
    path.write_text("\n".join(["# source", "release\thip\ttold_apart\tmarks\tread", *rows]) + "\n")
    with pytest.raises(TableError, match=words):
        releases(path)


def test_every_product_is_of_an_architecture_with_a_row_of_its_own():
    named = {one.name for one in architectures() if one.kind != "prefix"}
    assert {gpu.architecture for gpu in gpus()} <= named


def test_registers_and_waves_agree_with_the_table_of_products():
    """AMD's page of specifications: KiB of vector registers of a compute unit's 4 SIMDs, or of 4 x 32 lanes of RDNA's pairs of units."""
    for gpu in gpus():
        facts = architecture(gpu.architecture)
        assert facts is not None
        own, _, beside = gpu.vgpr_kib.partition("+")
        lanes = 4 * facts.wave
        assert facts.registers * lanes * 4 == int(own) * 1024, gpu.product
        assert bool(beside) <= bool(facts.agprs)
        assert str(facts.wave) in gpu.wave.split(" or ")
        paired = 2 if facts.generation > 9 else 1
        assert facts.lds_bytes * paired == gpu.lds_kib * 1024, gpu.product


@pytest.mark.parametrize(
    ("name", "wave", "images", "fp8"),
    [("gfx90a", 64, False, ""), ("gfx941", 64, False, "fnuz"), ("gfx1250", 32, True, ""), ("gfx906", 64, True, "")],
)
def test_what_no_row_names_is_what_its_name_begins_with(name: str, wave: int, images: bool, fp8: str):
    facts = architecture(name)
    assert facts is not None
    assert (facts.wave, facts.images, facts.fp8) == (wave, images, fp8)
    assert architecture("sm_90") is None


def test_the_driver_has_the_same_architectures():
    made = (ROOT / "native/hip/architectures.inc").read_text(encoding="utf-8")
    assert made == generate_architectures.text(), "run scripts/docs"
