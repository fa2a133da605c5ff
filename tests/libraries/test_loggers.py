"""The loggers of NVIDIA's libraries on the processor: what a program switches on, it is told."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.native

ERROR, TRACE, API = 1, 2, 5
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
LIBRARIES = {
    "cusparse": ("libcusparse.so.12", "cusparse", "cusparseCreate"),
    "cublaslt": ("libcublasLt.so.13", "cublasLt", "cublasLtCreate"),
    "cusolver": ("libcusolver.so.12", "cusolverDn", "cusolverDnCreate"),
    "cutensor": ("libcutensor.so.2", "cutensor", "cutensorCreate"),
}
INVALID = {"cusparse": 3, "cublaslt": 7, "cusolver": 3, "cutensor": 7}


@pytest.fixture(params=LIBRARIES)
def logger(library, request):
    file, prefix, create = LIBRARIES[request.param]
    loaded = library(request.param, file)
    told = []
    callback = CALLBACK(lambda level, function, message: told.append((level, function.decode(), message.decode())))

    def call(name, *arguments):
        loaded(f"{prefix}Logger{name}", *arguments)

    call("SetCallback", ctypes.cast(callback, ctypes.c_void_p).value)
    yield loaded, call, told, create, f"{prefix}Logger", INVALID[request.param]
    call("SetLevel", 0), call("SetCallback", None), call("SetFile", None)


def test_a_level_has_those_below_it(logger):
    loaded, call, told, create, _, _ = logger
    loaded.status(create, None)
    assert told == []
    call("SetLevel", ERROR)
    assert loaded.status(create, None) != 0
    assert [(level, function) for level, function, _ in told] == [(ERROR, create)]
    told.clear()
    call("SetLevel", API)
    loaded.status(create, None)
    assert [(level, function) for level, function, _ in told if function == create] == [(API, create), (ERROR, create)]


def test_a_mask_has_only_what_it_names(logger):
    loaded, call, told, create, _, _ = logger
    call("SetMask", 1 << (API - 1))
    loaded.status(create, None)
    assert [level for level, function, _ in told if function == create] == [API]
    call("SetMask", 0)
    told.clear()
    loaded.status(create, None)
    assert told == []


def test_a_file_takes_it(logger, tmp_path):
    loaded, call, _, create, _, _ = logger
    path = tmp_path / "log"
    call("OpenFile", str(path).encode())
    call("SetLevel", ERROR)
    loaded.status(create, None)
    assert create in path.read_text()
    call("SetFile", None)
    loaded.status(create, None)
    assert path.read_text().count(create) == 1


def test_what_is_no_level_is_refused(logger):
    loaded, _, _, _, prefix, invalid = logger
    for name, value in (("SetLevel", 6), ("SetLevel", -1), ("SetMask", 32), ("OpenFile", None), ("OpenFile", b"/no/such/place")):  # fmt: skip
        assert loaded.status(prefix + name, value) == invalid


def test_work_is_told(library):
    cusparse = library("cusparse", "libcusparse.so.12")
    handle, told = cusparse.out("cusparseCreate"), []
    callback = CALLBACK(lambda level, function, _: told.append((level, function)))
    cusparse("cusparseLoggerSetCallback", ctypes.cast(callback, ctypes.c_void_p).value)
    cusparse("cusparseLoggerSetMask", 1 << (TRACE - 1))
    cusparse("cusparseCreateIdentityPermutation", handle, 3, np.zeros(3, np.int32))
    cusparse("cusparseLoggerSetMask", 0)
    cusparse("cusparseLoggerSetCallback", None)
    assert told == [(TRACE, b"cusparseCreateIdentityPermutation")]


DISABLED = """
from libraries.loading import Library
cusparse = Library("cusparse", "libcusparse.so.12")
cusparse("cusparseLoggerForceDisable")
cusparse("cusparseLoggerSetLevel", 5)
cusparse.status("cusparseCreate", None)
"""


def test_what_is_disabled_stays_so(library):
    library("cusparse", "libcusparse.so.12")
    for text, lines in ((DISABLED, 0), (DISABLED.replace('cusparse("cusparseLoggerForceDisable")', ""), 2)):
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.count("[cusparseCreate]") == lines


def test_cublas_logs_calls_and_failures_to_a_file_and_a_callback_while_it_is_on(library, tmp_path):
    cublas = library("cublas", "libcublas.so.12")
    path, told = tmp_path / "log", []
    callback = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(told.append)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    cublas("cublasSetLoggerCallback", address)
    assert cublas.out("cublasGetLoggerCallback") == address
    cublas.status("cublasCreate_v2", None)
    assert told == []
    cublas("cublasLoggerConfigure", 1, 0, 0, str(path).encode())
    assert cublas.status("cublasCreate_v2", None) != 0
    cublas("cublasLoggerConfigure", 0, 0, 0, None)
    cublas.status("cublasCreate_v2", None)
    cublas("cublasSetLoggerCallback", None)
    assert len([each for each in told if b"cublasCreate_v2" in each]) == 2
    assert path.read_text().count("[cublasCreate_v2]") == 2


def test_cublas_refuses_a_file_that_cannot_be_written(library):
    cublas = library("cublas", "libcublas.so.12")
    assert cublas.status("cublasLoggerConfigure", 1, 0, 0, b"/no/such/place") == 7


def test_cublas_logs_to_both_standard_streams_and_is_silent_without_a_place(library):
    library("cublas", "libcublas.so.12")
    text = """
from libraries.loading import Library
cublas = Library("cublas", "libcublas.so.12")
for places in ((1, 1), (0, 0)):
    cublas("cublasLoggerConfigure", 1, *places, None)
    cublas.status("cublasCreate_v2", None)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.count("[cublasCreate_v2]") == done.stderr.count("[cublasCreate_v2]") == 2
