"""One thing to measure: a model or a command, with sizes, type, device and manner; a matrix is many of them."""

from __future__ import annotations

import hashlib
import itertools
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from anywarp import settings
from anywarp.check.bench.problems import ASKED, problem
from anywarp.check.store.run import key_of

HOST = "host"
"""The device that is none of ours: a command as it is, a model on PyTorch's own CPU."""

DTYPES = ("float64", "float32", "bfloat16", "float16")
LARGEST_MATRIX = 4096


@dataclass(frozen=True)
class Cell:
    """What is measured and how; `prefix` are the words before the program, `threads` 0 leaves PyTorch's own number."""

    form: Literal["model", "command"]
    what: str
    command: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    device: str = HOST
    dtype: str = ""
    inputs: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    weights: str = ""
    compile: bool = False
    graphs: bool = False
    ranks: int = 1
    threads: int = 0
    processes: int = 1
    seconds: float = 3.0

    def words(self) -> list[str]:
        """Return the words before the program: those of `anywarp run` for its devices."""
        if self.prefix or self.device == HOST:
            return list(self.prefix)
        return [str(settings.PYTHON.get()), "-m", "anywarp", "run", "--device", self.device, "--"]

    def title(self) -> str:
        """Return in a few words what distinguishes it from other cells of its matrix."""
        sizes = [f"{name} {size}" for name, size in self.sizes.items()]
        manner = [name for name in ("compile", "graphs") if getattr(self, name)]
        ranks = [f"{self.ranks} ranks"] if self.ranks > 1 else []
        return ", ".join([self.side(), *([self.dtype] if self.dtype else []), *sizes, *manner, *ranks])

    def side(self) -> str:
        """Return where it runs: the device, or the words before the program."""
        return shlex.join(self.prefix) if self.prefix else self.device

    def spec(self) -> dict[str, Any]:
        """Return what the measured process must know."""
        names = ("inputs", "dtype", "weights", "compile", "graphs", "threads")
        here = {name: getattr(self, name) for name in names}
        return {"model": self.what, "device": "cpu" if not self.words() else "cuda", "sizes": dict(self.sizes), **here}

    def as_json(self) -> dict[str, Any]:
        """Return a JSON-ready mapping, in the order of the fields."""
        return asdict(self)

    def key(self) -> str:
        """Return the key under which its result is found again: everything asked, with the content of the files named and this machine."""
        from anywarp.check.store.run import here

        return key_of(cell=self.as_json(), content=self.content(), machine=here())

    def content(self) -> str:
        """Return a digest of the files that it names: the model's code and weights, the program and its arguments."""
        if self.form == "command":
            return command_digest(self.command)
        place = self.what if self.what.endswith(".pt2") else self.what.rpartition(":")[0]
        return command_digest((place, self.weights), search=False)


def from_json(value: Mapping[str, Any]) -> Cell:
    """Return the cell that `as_json` wrote down."""
    known = {each.name: value[each.name] for each in fields(Cell) if each.name in value}
    for name in ("command", "prefix", "inputs"):
        known[name] = tuple(known.get(name, ()))
    return Cell(**known)


def matrix(base: Cell, devices: Sequence[str], dtypes: Sequence[str], axes: Mapping[str, Sequence[int]]) -> list[Cell]:
    """Return a cell for each device, type and size of axes, in this order; AnywarpError (V036) for what cannot be."""
    unknown = [name for name in dtypes if name not in ("", *DTYPES)]
    if unknown:
        raise problem(ASKED, f"{unknown[0]!r} is no type", f"types are {', '.join(DTYPES)}")
    sizes = [dict(zip(axes, each, strict=True)) for each in itertools.product(*axes.values())]
    count = len(devices) * len(dtypes) * len(sizes)
    if count > LARGEST_MATRIX:
        raise problem(ASKED, f"a matrix of {count:,} cells is too large", f"ask for at most {LARGEST_MATRIX:,}")
    if base.form == "model":
        named = axes_of(base.inputs)
        if missing := [name for name in axes if name not in named]:
            text = f"no input has an axis {missing[0]!r}"
            raise problem(ASKED, text, f"name it in an input, such as --input 'x:f32[{missing[0]},128]'")
    elif axes or tuple(dtypes) != ("",):
        raise problem(ASKED, "sizes and types are of models: a command takes its own arguments", "leave --batch, --length, --axis and --dtype out")  # fmt: skip
    return [
        replace(base, device=device, dtype=dtype, sizes=_complete(base, size))
        for device in devices
        for dtype in dtypes
        for size in sizes
    ]


def _complete(base: Cell, sizes: Mapping[str, int]) -> dict[str, int]:
    return {**axes_of(base.inputs), **sizes} if base.form == "model" else {}


def axes_of(inputs: Sequence[str]) -> dict[str, int]:
    """Return the axes that inputs name, with the size of each in the samples; AnywarpError (F014)."""
    from anywarp.frameworks.export.inputs import read  # late: NumPy

    return dict(read(inputs).axes)


def command_digest(words: Sequence[str], search: bool = True) -> str:
    """Return a digest of the words of a command and of every file that they name, the program found as a shell finds it."""
    digest = hashlib.sha256()
    for number, word in enumerate(words):
        digest.update(b"\0" + word.encode(errors="surrogateescape"))
        place = (shutil.which(word) or word) if search and number == 0 else word
        if word and Path(place).is_file():
            with Path(place).open("rb") as file:
                for block in iter(lambda: file.read(1 << 20), b""):
                    digest.update(block)
    return digest.hexdigest()[:32]
