"""The finder that answers imports of packages which cannot be used here (`answered.py` describes one).

It does nothing but on the device `cpu`, for a package whose real kernels cannot run. An absent package is answered where the program cannot do
without it (`optional.py`) or the user asks for it (ANYWARP_NEIGHBOURS); one in machine code always.
"""

# pyright: basic
from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module, metadata
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from anywarp import settings
from anywarp.diagnostics import Diagnostic
from anywarp.frameworks import watching
from anywarp.frameworks.neighbours import optional
from anywarp.frameworks.neighbours.neighbour import Answering, Found
from anywarp.frameworks.torch import messages, patches, scope


class Finder(MetaPathFinder):
    """Gives the modules of a package that is answered, and its record to importlib.metadata."""

    def __init__(self, known: Mapping[str, Answering]):
        self.known = known
        self.answered: dict[str, Answering] = {}
        self.left: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        neighbour = self.known.get(top)
        if neighbour is None or not (neighbour.name in self.answered or self._takes(neighbour)):
            return None
        if name in neighbour.answers:
            return _spec(neighbour, name)
        if path is not None and (real := watching.found_by_others(self, name, path, target)) is not None:
            return real  # a Python module of the real package, over our functions
        raise ModuleNotFoundError(f"{name} is not among the modules of {top} that anywarp answers", name=name)

    def _takes(self, neighbour: Answering) -> bool:
        """Decide, once a package's first import asks, whether it is answered."""
        name = neighbour.name
        if name in self.left:
            return False
        if settings.DEVICE.get() != "cpu" or not scope.changes_module(name):
            self.left.add(name)
            return False
        found = neighbour.detect()
        if found.state == "usable":
            self.left.add(name)
            return False
        if found.state == "broken":
            messages.say_once(Diagnostic("F011", f"{name} {found.words}", "warning"), name)
            return False
        if found.state == "absent" and name not in settings.NEIGHBOURS.get() and optional.is_optional(sys._getframe()):
            return False
        self.take(neighbour, found)
        return True

    def take(self, neighbour: Answering, found: Found) -> None:
        """Answer a package from now on, and say so."""
        self.answered[neighbour.name] = neighbour
        patches.write_down(f"import {neighbour.name}", found.state == "absent", neighbour.reason)
        text = f"{neighbour.name} {found.words}; {neighbour.explain(found)}"
        messages.say_once(Diagnostic("F010", text, "note"), neighbour.name)

    def find_distributions(self, context: metadata.DistributionFinder.Context | None = None) -> Iterable[Any]:
        """Yield the record of each package that the user asked to be answered: who looks there finds what it can import."""
        wanted = context.name.replace("_", "-").lower() if context is not None and context.name else None
        for name in settings.NEIGHBOURS.get():
            neighbour = self.known.get(name)
            if neighbour is None or wanted not in (None, neighbour.distribution, neighbour.name.replace("_", "-")):
                continue
            if neighbour.name in self.answered or self._takes(neighbour):
                yield Record(neighbour)


class Record(metadata.Distribution):
    """What importlib.metadata finds of a package that is answered."""

    def __init__(self, neighbour: Answering):
        self.neighbour = neighbour

    def read_text(self, filename: str) -> str | None:
        """Return the files METADATA and top_level.txt of the record; None for others."""
        known = self.neighbour
        if filename == "METADATA":
            return f"Metadata-Version: 2.1\nName: {known.distribution}\nVersion: {known.version}\nSummary: {known.reason}\n"
        return f"{known.name}\n" if filename == "top_level.txt" else None

    def locate_file(self, path: Any) -> Any:
        """Return where a file of the package would lie: with ours."""
        return Path(__file__).parent / "answers" / str(path)


class Answer(Loader):
    """Fills a module of the package with the names of ours that takes its place."""

    def __init__(self, neighbour: Answering, ours: str):
        self.neighbour, self.ours = neighbour, ours

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        ours = import_module(f"{__package__}.answers.{self.ours}")
        module.__file__ = ours.__file__
        module.__doc__ = ours.__doc__
        vars(module).update({name: vars(ours)[name] for name in ours.__all__})
        if "." not in module.__name__:
            vars(module)["__version__"] = self.neighbour.version
        if self.neighbour.whole:
            for each in self.neighbour.answers:
                if each.rpartition(".")[0] == module.__name__:
                    import_module(each)


def _spec(neighbour: Answering, name: str) -> ModuleSpec:
    package = any(each.startswith(f"{name}.") for each in neighbour.answers)
    spec = ModuleSpec(name, Answer(neighbour, neighbour.answers[name]), is_package=package)
    if package:
        spec.submodule_search_locations = [str(each) for each in neighbour.folders(name)]
    return spec


def install(known: Mapping[str, Answering] | None = None) -> Finder:
    """Put the finder for the packages `known` in force, once, and return it."""
    for finder in sys.meta_path:
        if isinstance(finder, Finder):
            return finder
    finder = Finder(known or {})
    watching.put_first("anywarp.frameworks.neighbours.registry", finder)
    return finder
