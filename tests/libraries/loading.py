"""One of our libraries for the processor in this process: its functions by name, with arguments as its declaration in the catalogue has them."""

import ctypes
import os
from functools import cache

import numpy as np

from anywarp import settings
from anywarp.catalogue import rocm

NUMBERS = {
    "int": ctypes.c_int, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "unsigned": ctypes.c_uint, "unsigned int": ctypes.c_uint,
    "int64_t": ctypes.c_int64, "long long": ctypes.c_longlong, "long long int": ctypes.c_longlong, "size_t": ctypes.c_size_t,
    "uint64_t": ctypes.c_uint64, "unsigned long long": ctypes.c_ulonglong, "float": ctypes.c_float, "double": ctypes.c_double,
    "char": ctypes.c_char, "cufftHandle": ctypes.c_int, "cusolver_int_t": ctypes.c_int, "bool": ctypes.c_bool,
    "ssize_t": ctypes.c_ssize_t, "off_t": ctypes.c_int64, "long": ctypes.c_long,
}  # fmt: skip


class Library:
    """`library("cublasDgemm_v2", ...)` calls and wants success; `library.status(...)` returns the number.

    Arrays of numpy and ctypes objects are passed by address: on `cpu` device memory is host memory.
    """

    def __init__(self, stem: str, file: str, major: int = 13):
        folder = settings.LIBRARY_DIR.get()
        self._cuda = ctypes.CDLL(str(folder / "libcuda.so.1"), mode=os.RTLD_GLOBAL)
        assert self._cuda.cuInit(0) == 0
        self.file = ctypes.CDLL(str(folder / file))
        self.table = rocm.load(stem)
        self._major = major
        self._functions = {f.name: f for f in self.table.functions}
        self._bound = cache(self._bind)

    def _bind(self, name):
        function = self.file[name]
        declared = self._functions[name]
        parameters = rocm.parameters_of(declared.parameters[self._major])
        function.argtypes = [self._type(parameter) for parameter in parameters]
        function.restype = NUMBERS.get(declared.result, ctypes.c_int)
        if "*" in declared.result:
            function.restype = ctypes.c_char_p if "char" in declared.result else ctypes.c_void_p
        return function

    def _type(self, parameter):
        if parameter.pointers:
            return ctypes.c_void_p
        if parameter.base in NUMBERS:
            return NUMBERS[parameter.base]
        known = self.table.types.get(parameter.base)
        if known is None or known.kind == "handle" or (known.kind == "callback"):
            return ctypes.c_void_p
        return ctypes.c_int

    def status(self, name, *arguments):
        return self._bound(name)(*map(_passed, arguments))

    def __call__(self, name, *arguments):
        status = self.status(name, *arguments)
        assert status == 0, f"{name} returned {status}"

    def out(self, name, *arguments, kind=ctypes.c_void_p):
        """Call a function whose first parameter takes what it makes; return that."""
        made = kind()
        self(name, made, *arguments)
        return made.value


def _passed(argument):
    if isinstance(argument, np.ndarray):
        return argument.ctypes.data
    if isinstance(argument, (ctypes.Structure, ctypes.Array, ctypes._SimpleCData)):
        return ctypes.addressof(argument) if not isinstance(argument, ctypes.c_char) else argument
    return argument
