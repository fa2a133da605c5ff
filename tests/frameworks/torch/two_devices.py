"""What the checks of two CUDA devices share; each file of them runs in a process that has two (test_two_devices.py)."""

import ctypes
import json
import sys
import traceback

import torch

ZERO, ONE = torch.device("cuda:0"), torch.device("cuda:1")
MIB = 1 << 20
HELD = []
LIBC, DRIVER = ctypes.CDLL(None), ctypes.CDLL("libcuda.so.1")


def hold():
    """Keep the current stream busy until what is returned is called: a host function that waits for a semaphore."""
    semaphore = ctypes.create_string_buffer(64)
    assert LIBC.sem_init(semaphore, 0, 0) == 0
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    torch.cuda._sleep(0)  # its device's context is current from here on
    assert DRIVER.cuLaunchHostFunc(stream, LIBC.sem_wait, semaphore) == 0
    HELD.append(semaphore)
    return lambda: LIBC.sem_post(semaphore)


def raises(kind, words, function):
    try:
        function()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"nothing was raised: {words}")


def run(names):
    """Call the functions `check_...` of a script, or those its arguments name; print a line of JSON for each, [name, what went wrong or ""]."""
    for name, function in names.items():
        if not name.startswith("check_") or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        try:
            function()
            wrong = ""
        except Exception:
            wrong = traceback.format_exc()
        print(json.dumps([name, wrong]), flush=True)
        torch.cuda.set_stream(torch.cuda.default_stream(0))
