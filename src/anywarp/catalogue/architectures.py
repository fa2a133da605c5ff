"""Load what is known of AMD's GPU architectures: data/rocm/architectures.tsv.

The code generator, the driver's occupancy, verdicts, translation and conversion all ask here. Standard library only: the build uses it too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anywarp.catalogue.rocm import DATA, TableError, read

PATH = DATA / "architectures.tsv"
COLUMNS = (
    "name", "kind", "family", "generation", "wave", "lds_kib", "lds_granule", "matrix", "fp8", "agprs", "registers", "granule", "waves",
    "images", "metrics", "card",
)  # fmt: skip
NUMBERS = ("generation", "wave", "lds_kib", "lds_granule", "agprs", "registers", "granule", "waves")
KINDS = ("compiled", "generic", "known", "prefix")


@dataclass(frozen=True, slots=True)
class Facts:
    """One architecture, by LLVM's name. `wave` lanes run together; a block addresses at most `lds_bytes`, given out in units of `lds_granule`.

    `generation` is the first part of the number (9 to 12), `family` AMD's word (CDNA3, RDNA4). `matrix` is "mfma", "wmma" or "" and `fp8`
    "fnuz", "ocp" or "". A SIMD has `registers` vector registers for one lane, given out in units of `granule`, and holds `waves` waves at most;
    `agprs` are those for matrix products that a lane can have beside 256 others. `images` says whether it has image instructions,
    `metrics` whose fields AMD's exporter gives, `card` the usual product, where the first one that is known is not it.
    """

    name: str
    kind: str
    family: str
    generation: int
    wave: int
    lds_bytes: int
    lds_granule: int
    matrix: str
    fp8: str
    agprs: int
    registers: int
    granule: int
    waves: int
    images: bool
    metrics: str
    card: str

    @property
    def generic(self) -> bool:
        """Whether code for it runs on several architectures."""
        return self.kind == "generic"


@cache
def architectures(path: Path = PATH) -> tuple[Facts, ...]:
    """Return all rows, in their order; TableError for one that is there twice or holds no word of the table's."""
    found: dict[str, Facts] = {}
    for r, place in read(path, COLUMNS):
        if r["name"] in found or r["kind"] not in KINDS or r["images"] not in ("yes", "no"):
            raise TableError(f"{place}: {r['name']} is there twice, or its kind or images is no word of this table")
        number = {column: int(r[column]) for column in NUMBERS}
        found[r["name"]] = Facts(
            r["name"], r["kind"], r["family"], number["generation"], number["wave"], number["lds_kib"] * 1024, number["lds_granule"],
            r["matrix"], r["fp8"], number["agprs"], number["registers"], number["granule"], number["waves"], r["images"] == "yes",
            r["metrics"], r["card"],
        )  # fmt: skip
    return tuple(found.values())


def architecture(name: str) -> Facts | None:
    """Return the row of an architecture, or the longest prefix that its name begins with; None for what begins like none."""
    rows = architectures()
    exact = next((row for row in rows if row.name == name and row.kind != "prefix"), None)
    fitting = [row for row in rows if row.kind == "prefix" and name.startswith(row.name)]
    return exact or max(fitting, key=lambda row: len(row.name), default=None)
