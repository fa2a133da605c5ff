"""An indexed module as lowering sees it: functions parsed once, variables by name, data placed.

Keeps what several kernels of one module share, so that compiling a second one parses nothing twice.
"""

from __future__ import annotations

from anywarp.compiler.device_runtime import runtime_function, runtime_service
from anywarp.compiler.layout import Global, function_addresses, place_data
from anywarp.diagnostics import Source
from anywarp.ptx.index import ModuleIndex
from anywarp.ptx.tree import Alias, Function, GenericAddress, InitialList, Masked, Name, Offset, Variable


class IndexedModule:
    """The `ModuleView` of a `ModuleIndex`."""

    def __init__(self, index: ModuleIndex) -> None:
        self.index = index
        self._parsed: dict[str, Function] = {}
        self._aliases = {i.name: i.target for i in index.items if isinstance(i, Alias)}
        self._variables: dict[str, Variable] = {}
        for item in index.items:
            if isinstance(item, Variable) and (item.linkage != "extern" or item.name not in self._variables):
                self._variables[item.name] = item
        self._globals: dict[str, Global] | None = None
        self._addresses: dict[str, int] | None = None
        self._taken: tuple[str, ...] | None = None

    @property
    def source(self) -> Source | None:
        """The module's text."""
        return self.index.source

    def function(self, name: str) -> Function | None:
        """Parse the function, following one alias."""
        name = self._aliases.get(name, name)
        if name not in self.index.functions:
            return runtime_service(name)
        if name not in self._parsed:
            found = self.index.function(name)
            self._parsed[name] = found if found.body is not None else runtime_function(name) or found
        return self._parsed[name]

    def variable(self, name: str) -> Variable | None:
        """A variable of module level."""
        return self._variables.get(name)

    def placed(self, name: str) -> Global | None:
        """Where a variable lies in the module's data; all are placed when one is first asked for."""
        variable = self._variables.get(name)
        if variable is None or variable.space not in ("global", "const"):
            return None
        if self._globals is None:
            self._globals = place_data(self.index.items, self.index.source)
        return self._globals.get(name)

    def address_of_function(self, name: str) -> int:
        """Return the number that stands for a function's address."""
        if self._addresses is None:
            self._addresses = function_addresses(self.index.items)
        return self._addresses.get(self._aliases.get(name, name), 0)  # a service of the runtime has none

    def address_taken(self) -> tuple[str, ...]:
        """Return the functions, kernels not, named in initial values, or in bodies more often than they are called there, in order."""
        if self._taken is None:
            found = {self._aliases.get(n, n) for n in self._in_initial_values()}
            for name in self.index.functions:
                found.update(self.index.pointed_to(name))
            self._taken = tuple(
                n
                for n, f in self.index.functions.items()
                if n in found and f.body is not None and f.header.kind == "func"
            )
        return self._taken

    def _in_initial_values(self) -> set[str]:
        found: set[str] = set()
        work: list[object] = [v.initial for v in self._variables.values()]
        while work:
            one = work.pop()
            if isinstance(one, InitialList):
                work += one.elements
            elif isinstance(one, Masked):
                work.append(one.operand)
            elif isinstance(one, Offset):
                found.add(one.base.name)
            elif isinstance(one, Name | GenericAddress):
                found.add(one.name)
        return found
