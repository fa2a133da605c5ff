"""Call every forwarded function of one library over a recording ROCm and compare what arrives; prints what differs.

Run as a program, because a library looks for ROCm once in a process: STEM LIBRARY MAJOR RECORDER RUNTIME, where MAJOR is the CUDA
version whose declarations the library follows. Expected values come from the tables, read apart from the generator.
"""

from __future__ import annotations

import ctypes
import itertools
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from native.rocm.recorder import Declared, Recorder, Side, c_type, declared, rows, side_of, symbols_of

FORMATS = {
    "int": "i", "unsigned": "I", "long": "q", "unsigned long": "Q", "float": "f", "double": "d", "void*": "Q", "char": "b",
    "signed char": "b", "unsigned char": "B", "short": "h", "unsigned short": "H", "_Bool": "?",
}  # fmt: skip
CTYPES = {
    "int": ctypes.c_int, "unsigned": ctypes.c_uint, "long": ctypes.c_int64, "unsigned long": ctypes.c_uint64,
    "float": ctypes.c_float, "double": ctypes.c_double, "void*": ctypes.c_void_p, "char": ctypes.c_byte,
    "signed char": ctypes.c_byte, "unsigned char": ctypes.c_ubyte, "short": ctypes.c_short, "unsigned short": ctypes.c_ushort,
    "_Bool": ctypes.c_bool,
}  # fmt: skip


class Id(ctypes.Structure):
    """A structure of 128 bytes that is passed by value."""

    _fields_ = (("bytes", ctypes.c_ubyte * 128),)


class Complex(ctypes.Structure):
    """Two single-precision numbers that are passed by value."""

    _fields_ = (("x", ctypes.c_float), ("y", ctypes.c_float))


class DoubleComplex(ctypes.Structure):
    """Two double-precision numbers that are passed by value."""

    _fields_ = (("x", ctypes.c_double), ("y", ctypes.c_double))


BY_VALUE: dict[str, type[ctypes.Structure]] = {"struct id128": Id, "float2": Complex, "double2": DoubleComplex}
PLAN = 0x7700_1234_5000  # what the target's plan is, for which the program has a number


class Enums:
    """The constants of one library: CUDA's values with their counterparts', both ways."""

    def __init__(self, stem: str, major: int, runtime: int) -> None:
        self.aliases: dict[str, str] = {}
        for row in rows(f"{stem}_types.tsv"):
            if row["kind"] == "alias" and row["definition"].startswith("enum "):
                self.aliases[row["name"]] = row["definition"].removeprefix("enum ")
        self.counterparts: dict[str, dict[int, int | None]] = {}
        for row in rows(f"{stem}_constants.tsv"):
            value = row["value_13"] if major == 13 and row["value_13"] != "=" else row["value_12"]
            if row["type"] == "#define" or not value:
                continue
            table = self.counterparts.setdefault(row["type"], {})
            counterpart = _older(row, "target_value", runtime)
            if table.get(int(value, 0)) is None:
                table[int(value, 0)] = int(counterpart, 0) if counterpart else None
        self.back: dict[str, dict[int, int]] = {}
        for row in rows(f"{stem}_back.tsv"):
            ours = row["cuda_value_13"] if major == 13 and row["cuda_value_13"] != "=" else row["cuda_value_12"]
            value = _older(row, "value", runtime)
            if ours and value:
                self.back.setdefault(row["cuda_type"], {}).setdefault(int(value, 0), int(ours, 0))

    def name(self, declared_type: str) -> str:
        """Return the enum that a declared type is."""
        return self.aliases.get(declared_type, declared_type)


def _older(row: dict[str, str], column: str, runtime: int) -> str:
    older = dict(part.split("=") for part in row.get("earlier", "").split())
    sixes = [value for version, value in older.items() if version.startswith("6.")]
    return sixes[-1] if runtime == 6 and sixes else row[column]


def is_enum(side: Side, enums: Enums, parameter: Declared) -> bool:
    """Whether a parameter is an enum or an address of one."""
    return side.kinds.get(enums.name(parameter.type)) == "enum"


class Checker:
    """One library under test."""

    def __init__(self, stem: str, library: str, major: int, recorder: str, runtime: int, codes: dict[str, int]) -> None:
        self.library = ctypes.CDLL(library)
        self.recorder = Recorder(Path(recorder))
        self.side, self.theirs = side_of(stem, target=False), side_of(stem, target=True)
        self.enums = Enums(stem, major, runtime)
        self.codes, self.major, self.runtime, self.stem = codes, major, runtime, stem
        self.plan = 0
        if stem == "cufft":
            made = ctypes.c_int()
            self.recorder.reset(0, {0: struct.pack("Q", PLAN)})
            assert self.library.cufftCreate(ctypes.byref(made)) == 0 and made.value > 0
            self.plan = made.value

    def check(self, row: dict[str, str], problems: list[str]) -> int:
        """Check one row; returns the number of calls made."""
        text = row["parameters_13"] if self.major == 13 and row["parameters_13"] != "=" else row["parameters_12"]
        parameters, targets = declared(text), declared(row["target_parameters"])
        types = [c_type(self.side, each) for each in parameters]
        function = getattr(self.library, row["name"])
        function.argtypes = [BY_VALUE.get(kind) or CTYPES[kind] for kind in types]
        function.restype = ctypes.c_void_p if "*" in row["result"] else ctypes.c_int
        symbols = symbols_of(row, self.runtime)
        count = 0
        for chosen in self._choices(parameters):
            count += 1
            values, expected, writes, outs = self._arguments(parameters, targets, types, chosen)
            self.recorder.reset(0, writes)
            result = function(*values)
            calls = self.recorder.calls()
            wanted = self._wanted(chosen)
            what = f"{row['name']}{chosen}"
            if not symbols:
                wanted = "not_supported"
            if "Status" not in row["result"] and "Result" not in row["result"]:
                result = 0
            if wanted:
                if calls or result != self.codes[wanted]:
                    problems.append(f"{what}: {result} and {calls}, not {wanted}")
                continue
            if result != 0 or calls != [(symbols[0], expected)]:
                problems.append(f"{what}: {result} {calls}, not {symbols[0]} {expected}")
            for place, (ours, value) in outs.items():
                if ours.value != value if value is not None else ours.value <= 0:
                    problems.append(f"{what}: gave back {ours.value} in place {place}, not {value}")
        return count + self._statuses(row, function, parameters, targets, types, symbols, problems)

    def _choices(self, parameters: list[Declared]) -> Iterator[dict[int, int]]:
        """Yield values for the enums: each constant of each, the others at one that has a counterpart; and one that nobody knows."""
        places = [n for n, each in enumerate(parameters) if is_enum(self.side, self.enums, each)]
        usual: dict[int, int] = {}
        tables: dict[int, dict[int, int | None]] = {}
        for n in places:
            name = self.enums.name(parameters[n].type)
            back = self.enums.back.get(name, {})
            out = parameters[n].pointers > 0
            tables[n] = dict(back) if out else self.enums.counterparts[name]
            usual[n] = next(value for value, counterpart in tables[n].items() if counterpart is not None)
        yield usual
        for n in places:
            for value in tables[n]:
                yield usual | {n: value}
            if not parameters[n].pointers:
                for unknown in (987654, -77):
                    yield usual | {n: unknown}
        self.tables = tables

    def _wanted(self, chosen: dict[int, int]) -> str:
        return self._verdict

    def _arguments(self, parameters: list[Declared], targets: list[Declared], types: list[str], chosen: dict[int, int]):
        values, expected = list[object](), list[bytes]()
        writes: dict[int, bytes] = {}
        outs: dict[int, tuple[ctypes.c_int, int]] = {}
        self._verdict = ""
        for n, (parameter, target, kind) in enumerate(zip(parameters, targets, types, strict=True)):
            counterpart_kind = c_type(self.theirs, target)
            if n in chosen and parameter.pointers:
                name = self.enums.name(parameter.type)
                ours = ctypes.c_int(-1)
                writes[n] = struct.pack("i", chosen[n])
                outs[n] = ours, self.enums.back[name][chosen[n]]
                values.append(ctypes.addressof(ours))
                expected.append(b"")
            elif n in chosen:
                table = self.enums.counterparts[self.enums.name(parameter.type)]
                values.append(chosen[n])
                counterpart = table.get(chosen[n])
                if parameter.type == "ncclRedOp_t" and chosen[n] >= 5:
                    expected.append(struct.pack("i", chosen[n]))  # made by the program (ncclRedOpCreatePreMulSum)
                elif chosen[n] not in table:
                    self._verdict = "invalid_value"
                elif counterpart is None:
                    self._verdict = "not_supported"
                else:
                    expected.append(struct.pack("i", counterpart if counterpart < 1 << 31 else counterpart - (1 << 32)))
            elif kind in BY_VALUE:
                data = bytes(range(7, 7 + ctypes.sizeof(BY_VALUE[kind])))
                values.append(BY_VALUE[kind].from_buffer_copy(data))
                expected.append(data)
            elif parameter.type == "cufftHandle" and parameter.pointers:
                ours = ctypes.c_int(-1)
                writes[n] = struct.pack("Q", PLAN)
                outs[n] = ours, None
                values.append(ctypes.addressof(ours))
                expected.append(b"")
            elif parameter.type == "cufftHandle":
                values.append(self.plan)
                expected.append(struct.pack("Q", PLAN))
            elif parameter.pointers == 1 and (parameter.type, target.type) == ("int", "size_t"):
                ours = ctypes.c_int(-1)
                writes[n] = struct.pack("Q", 123456)
                outs[n] = ours, 123456
                values.append(ctypes.addressof(ours))
                expected.append(b"")
            elif kind == "void*":
                address = 0x7100_0000_1000 + 0x1111 * n
                values.append(address)
                expected.append(struct.pack("Q", address))
            else:
                number = 101 + 3 * n if kind not in ("float", "double") else 1.5 + n
                if kind == "_Bool":
                    number = 1
                values.append(number)
                expected.append(struct.pack(FORMATS[counterpart_kind], number))
        return values, _Loose(expected, outs), writes, outs

    def _statuses(self, row, function, parameters, targets, types, symbols, problems: list[str]) -> int:
        if not symbols or ("Status" not in row["result"] and "Result" not in row["result"]):
            return 0
        usual = next(self._choices(parameters))
        table = self.enums.back[self.enums.name(row["result"])]
        # Every code for some functions, and a few in turn for each.
        self.rows = getattr(self, "rows", -1) + 1
        every = list(itertools.chain(table.items(), [(76543, self.codes["internal"])]))
        chosen = every if self.rows % 16 == 0 else [every[(self.rows * 3 + i) % len(every)] for i in range(3)]
        for theirs, ours in chosen:
            values, _, writes, _ = self._arguments(parameters, targets, types, usual)
            self.recorder.reset(theirs, writes)
            if (result := function(*values)) != ours:
                problems.append(f"{row['name']}: status {theirs} became {result}, not {ours}")
        return len(chosen)


class _Loose(list[bytes]):
    """Expected arguments, where addresses of the library's own variables are not known."""

    def __init__(self, expected: list[bytes], outs: dict[int, tuple[ctypes.c_int, int]]) -> None:
        super().__init__(expected)
        self._places = set(outs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list) or len(other) != len(self):
            return False
        return all(
            n in self._places or mine == theirs for n, (mine, theirs) in enumerate(zip(self, other, strict=True))
        )

    __hash__ = None


def main(stem: str, library: str, major: str, recorder: str, runtime: str, names: str, codes: str) -> None:
    """Check the functions listed in the file `names`, a line each; print the problems and the counts."""
    numbers = {part.split("=")[0]: int(part.split("=")[1]) for part in codes.split(",")}
    checker = Checker(stem, library, int(major), recorder, int(runtime), numbers)
    wanted = set(Path(names).read_text(encoding="utf-8").split())
    problems, functions, calls = list[str](), 0, 0
    for row in rows(f"{stem}.tsv"):
        if row["name"] in wanted:
            functions += 1
            calls += checker.check(row, problems)
    for problem in problems[:40]:
        print(problem)
    print(f"{functions} functions, {calls} calls, {len(problems)} problems")


if __name__ == "__main__":
    main(*sys.argv[1:])
