"""The file in which a fleet is planned: what is measured, verified and assessed, over which axes, on which machines.

The models are the one description of the file: reading, checking and the JSON schema for editors come from them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from anywarp.deploy import checked_yaml
from anywarp.deploy.fleet.problems import PLAN
from anywarp.deploy.rollout.units import Seconds

MOST_VALUES, MOST_TASKS = 1000, 10_000
_PATTERN = r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"


def _word(value: str) -> str:
    """Check that a text can be an argument of a program."""
    if "\0" in value:
        raise ValueError("no argument of a program can hold the character 0")
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        raise ValueError("holds half a surrogate pair, which is no text") from None
    return value


def _as_text(value: Any) -> Any:
    """Take numbers for the texts that they are written as: sizes and releases are words of a command line here."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _several(value: Any) -> Any:
    return [value] if isinstance(value, str | int | float) and not isinstance(value, bool) else value


Name = Annotated[str, Field(pattern=_PATTERN, description="A short name.")]
_Bare = str | int | float
Word = Annotated[
    str, BeforeValidator(_as_text, json_schema_input_type=_Bare), AfterValidator(_word), Field(max_length=100_000)
]
_Value = Annotated[Word, Field(min_length=1, max_length=300)]
Words = Annotated[
    tuple[Word, ...],
    BeforeValidator(_several, json_schema_input_type=tuple[_Bare, ...] | _Bare),
    Field(max_length=MOST_VALUES),
]
Values = Annotated[
    tuple[_Value, ...],
    BeforeValidator(_several, json_schema_input_type=tuple[_Bare, ...] | _Bare),
    Field(min_length=1, max_length=MOST_VALUES),
]
Program = Annotated[Words, Field(min_length=1)]
Kubernetes = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$")]
Label = Annotated[str, Field(max_length=320, pattern=r"^[A-Za-z0-9]([A-Za-z0-9./_-]*[A-Za-z0-9])?$")]
AtOnce = Annotated[int, Field(ge=1, le=10_000, description="How many tasks run there at the same time.")]


class _Part(BaseModel):
    """A mapping in the file: keys that nobody knows are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, strict=False)


class Here(_Part):
    """This machine."""

    kind: Literal["here"]
    name: Name = "here"
    at_once: AtOnce = 1


class Slurm(_Part):
    """A cluster with Slurm: a job array for each device."""

    kind: Literal["slurm"]
    name: Name = "slurm"
    at_once: AtOnce = 16
    options: tuple[Annotated[str, Field(pattern=r"^--[a-z][a-z-]*(=[^\n\x00]*)?$", max_length=500)], ...] = Field(
        default=(), max_length=50, description="Options of sbatch, such as --partition=gpu or --time=30."
    )
    anywarp: Words = Field(
        default=(), description="Words that start anywarp there (default: this interpreter, by its place)."
    )


class Volume(_Part):
    """A claim that all pods mount, in which the fleet's folder lies."""

    claim: Kubernetes
    mount: str = Field(pattern=r"^/[^\x00]*$", max_length=1000, description="Where pods see it.")
    folder: str = Field(pattern=r"^/[^\x00]*$", max_length=1000, description="The fleet's folder, as pods see it.")


class Cluster(_Part):
    """A cluster of Kubernetes: an Indexed Job for each device."""

    kind: Literal["kubernetes"]
    name: Name = "kubernetes"
    at_once: AtOnce = 16
    namespace: Kubernetes = "default"
    context: str | None = Field(default=None, max_length=300, description="The context of kubeconfig.")
    image: str = Field(min_length=1, max_length=500, pattern=r"^[^\s]+$", description="An image with anywarp in it.")
    anywarp: Program = Field(default=("anywarp",), description="Words that start anywarp in it.")
    work_folder: str = Field(default="/", pattern=r"^/[^\x00]*$", max_length=1000, description="Where tasks run.")
    node_selector: dict[Label, str] = Field(default_factory=dict, max_length=50)
    resources: dict[Label, Annotated[Word, Field(max_length=30)]] = Field(
        default_factory=dict, max_length=50, description="Limits of each pod beside its GPUs: cpu, memory."
    )
    volume: Volume | None = Field(default=None, description="Without one, results come from the pods' logs.")


class Ray(_Part):
    """A Ray cluster whose machines have anywarp, and see the plan's folder at the same place."""

    kind: Literal["ray"]
    name: Name = "ray"
    at_once: AtOnce = 1000
    address: str | None = Field(default=None, max_length=500, description="The cluster (default: a local Ray).")
    cpus: float = Field(default=1, gt=0, le=4096, description="Processors that a task is given.")


Machine = Annotated[Here | Slurm | Cluster | Ray, Field(discriminator="kind")]


class _Entry(_Part):
    name: Name
    machines: tuple[Name, ...] | None = Field(default=None, description="Names of machines (default: all).")
    gpus: int = Field(default=1, ge=0, le=1024, description="GPUs that a task on `hip` or `cuda` asks its cluster for.")
    timeout: Seconds = Field(default=3600, description="A task that takes longer is ended, and has failed.")


class Bench(_Entry):
    """A model or a command that is measured."""

    verb: Literal["bench"]
    model: Word | None = Field(default=None, description="file.py:name, package.module:name or program.pt2.")
    command: Program | None = None
    input: Words = Field(default=(), description="Inputs of a model: x:f32[batch,256].")
    weights: Word | None = None
    seconds: float = Field(default=3.0, ge=0.01, le=3600)
    threads: int = Field(default=0, ge=0, le=4096)
    ranks: int = Field(default=1, ge=1, le=1024)
    processes: int = Field(default=1, ge=1, le=100)
    compile: bool = False
    graphs: bool = False
    axes: dict[str, Values] = Field(default_factory=dict, max_length=16)

    @model_validator(mode="after")
    def _fits(self) -> Bench:
        if (self.model is None) == (self.command is None):
            raise ValueError("give one of model and command")
        if self.command is not None and (self.input or self.weights or set(self.axes) - {"device"}):
            raise ValueError("a command has no inputs and weights, and no axis but device")
        for name, values in self.axes.items():
            if not name.isidentifier():
                raise ValueError(f"{name!r} is no name of an axis")
            if name not in ("device", "dtype") and not all(v.isdecimal() and 0 < len(v) < 10 for v in values):
                raise ValueError(f"sizes of the axis {name} must be numbers")
        return self


class Verify(_Entry):
    """A program that is held against a recording."""

    verb: Literal["verify"]
    recording: Annotated[Word, Field(pattern=r"^[^-]")]
    command: Program
    null: Word | None = None
    precise: bool = False
    axes: dict[Literal["device"], Values] = Field(default_factory=dict[Literal["device"], Values])


class Assess(_Entry):
    """A tree or an image that is assessed for targets."""

    verb: Literal["assess"]
    tree: Word = Field(min_length=1)
    exclude: Words = ()
    axes: dict[Literal["target", "rocm"], Values] = Field(default_factory=dict[Literal["target", "rocm"], Values])


Entry = Annotated[Bench | Verify | Assess, Field(discriminator="verb")]


class Plan(_Part):
    """A matrix of tasks and where they run."""

    version: Literal[1]
    name: Name
    folder: str | None = Field(
        default=None, min_length=1, max_length=4000, description="Where results meet, seen by all machines alike (default: NAME.fleet beside the plan)."
    )  # fmt: skip
    attempts: int = Field(default=2, ge=1, le=20, description="How often a task is tried before it counts as failed.")
    machines: tuple[Machine, ...] = Field(default=(Here(kind="here"),), min_length=1, max_length=100)
    entries: tuple[Entry, ...] = Field(min_length=1, max_length=MOST_VALUES)

    @model_validator(mode="after")
    def _names(self) -> Plan:
        for what, names in (("machines", [m.name for m in self.machines]), ("entries", [e.name for e in self.entries])):
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise ValueError(f"two {what} are called {twice}")
        known = {machine.name for machine in self.machines}
        for entry in self.entries:
            if unknown := [name for name in entry.machines or () if name not in known]:
                raise ValueError(f"{entry.name}: there is no machine {unknown[0]}")
        return self


FORM = checked_yaml.Form(
    Plan, PLAN, "fleet's plan", "`anywarp fleet plan --new FILE` writes a first one", "docs/fleet.md describes every key"
)  # fmt: skip


@dataclass(frozen=True)
class ReadPlan:
    """A plan with the file that it was read from."""

    plan: Plan
    place: Path

    @property
    def base(self) -> Path:
        """The folder of the plan: its relative paths are meant from there."""
        return self.place.absolute().parent

    @property
    def folder(self) -> Path:
        """The folder in which results meet."""
        return self.base / (self.plan.folder or f"{self.plan.name}.fleet")


def read(path: Path) -> ReadPlan:
    """Read and check a plan; `checked_yaml.FileErrors` with every mistake in it."""
    return ReadPlan(checked_yaml.parse(checked_yaml.text_of(path, FORM), str(path), FORM), path)


def schema() -> dict[str, Any]:
    """Return the JSON schema of plans."""
    return Plan.model_json_schema()
