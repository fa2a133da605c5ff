"""Events shared between processes: who waits sees what came before the record, and wrong handles are refused."""

import ctypes
import time

import pytest

from native.test_ipc import Handle, Other, handle_of, words

pytestmark = pytest.mark.native

INVALID_VALUE, INVALID_CONTEXT, INVALID_HANDLE, NOT_READY = 1, 201, 400, 600
DISABLE_TIMING, INTERPROCESS = 2, 4
SHARED = DISABLE_TIMING | INTERPROCESS
SIZE = 1 << 16

EVENTS = """
def open_event(handle):
    out = ctypes.c_void_p()
    return driver.code("cuIpcOpenEventHandle", ctypes.byref(out), handle), out
"""


class Gate:
    """Holds a stream up until it is opened."""

    def __init__(self, driver, stream):
        self.driver, self.address = driver, driver.out("cuMemAlloc_v2", 4)
        driver.cuMemsetD32_v2(self.address, 0, 1)
        driver.cuStreamWaitValue32_v2(stream, self.address, 1, 1)

    def open(self):
        self.driver.cuMemsetD32_v2(self.address, 1, 1)


def event_handle(driver, event):
    handle = Handle()
    driver.cuIpcGetEventHandle(ctypes.byref(handle), event)
    return handle


@pytest.fixture
def scene(driver, context):
    """A stream that does not wait for the default one, shared memory full of 1, and a shared event."""
    memory = driver.out("cuMemAlloc_v2", SIZE)
    driver.cuMemsetD8_v2(memory, 1, SIZE)
    return driver.out("cuStreamCreate", 1), memory, driver.out("cuEventCreate", SHARED)


def other_with(body):
    return Other(EVENTS + "memory, event = open_code(read_handle())[1], open_event(read_handle())[1]\n" + body)


WAITS = {
    "synchronize": "driver.cuEventSynchronize(event)",
    "stream": "stream = driver.out('cuStreamCreate', 1); driver.cuStreamWaitEvent(stream, event, 0); "
    "tell('ordered'); driver.cuStreamSynchronize(stream)",
}


@pytest.mark.parametrize("how", WAITS)
def test_another_process_waits_for_the_work_before_the_record(driver, scene, how):
    stream, memory, event = scene
    body = f"""
tell(driver.code("cuEventQuery", event))
sys.stdin.readline()
tell(driver.code("cuEventQuery", event))
{WAITS[how]}
tell(set(fetch(memory, {SIZE})), driver.code("cuEventQuery", event))
driver.cuEventDestroy_v2(event)
tell(driver.code("cuEventQuery", event))
"""
    with other_with(body) as other:
        other.tell(words(handle_of(driver, memory)))
        other.tell(words(event_handle(driver, event)))
        assert other.hear() == ["0"]  # never recorded
        gate = Gate(driver, stream)
        driver.cuMemsetD8Async(memory, 7, SIZE, stream)
        driver.cuEventRecord(event, stream)
        other.tell("recorded")
        assert other.hear() == [str(NOT_READY)]
        if how == "stream":
            assert other.hear() == ["ordered"]
        time.sleep(0.2)  # the other is in its wait now
        assert driver.code("cuEventQuery", event) == NOT_READY
        gate.open()
        assert other.hear() == ["{7}", "0"]
        assert other.hear() == [str(INVALID_HANDLE)]
        driver.cuEventSynchronize(event)
        other.end()


def test_what_the_other_process_records_is_seen_here(driver, scene):
    stream, memory, event = scene
    body = f"""
stream, gate = driver.out("cuStreamCreate", 1), driver.out("cuMemAlloc_v2", 4)
driver.cuMemsetD32_v2(gate, 0, 1)
driver.cuStreamWaitValue32_v2(stream, gate, 1, 1)
driver.cuMemsetD8Async(memory, 9, {SIZE}, stream)
driver.cuEventRecord(event, stream)
tell("recorded")
sys.stdin.readline()
driver.cuMemsetD32_v2(gate, 1, 1)
driver.cuStreamSynchronize(stream)
sys.stdin.readline()
"""
    with other_with(body) as other:
        other.tell(words(handle_of(driver, memory)))
        other.tell(words(event_handle(driver, event)))
        assert other.hear() == ["recorded"]
        assert driver.code("cuEventQuery", event) == NOT_READY
        seen = ctypes.create_string_buffer(SIZE)
        driver.cuStreamWaitEvent(stream, event, 0)
        assert driver.code("cuStreamQuery", stream) == NOT_READY
        other.tell("go")
        driver.cuMemcpyDtoHAsync_v2(seen, memory, SIZE, stream)
        driver.cuStreamSynchronize(stream)
        assert set(seen.raw) == {9}
        other.tell("end")
        other.end()


def test_asking_does_not_hang_when_the_recorder_has_died(driver, scene):
    _, memory, event = scene
    body = """
stream, gate = driver.out("cuStreamCreate", 1), driver.out("cuMemAlloc_v2", 4)
driver.cuMemsetD32_v2(gate, 0, 1)
driver.cuStreamWaitValue32_v2(stream, gate, 1, 1)
driver.cuEventRecord(event, stream)
tell("recorded")
sys.stdin.readline()
"""
    with other_with(body) as other:
        other.tell(words(handle_of(driver, memory)))
        other.tell(words(event_handle(driver, event)))
        assert other.hear() == ["recorded"]
        other.process.kill()
        other.process.wait(20)
    assert driver.code("cuEventQuery", event) == NOT_READY
    driver.cuEventRecord(event, 0)  # a later record counts in its place
    driver.cuEventSynchronize(event)
    assert driver.code("cuEventQuery", event) == 0


def test_only_events_made_for_it_are_shared(driver, context):
    handle, out = Handle(), ctypes.c_void_p()
    assert driver.code("cuEventCreate", ctypes.byref(out), INTERPROCESS) == INVALID_VALUE
    event, plain = driver.out("cuEventCreate", SHARED), driver.out("cuEventCreate", DISABLE_TIMING)
    assert driver.code("cuIpcGetEventHandle", None, event) == INVALID_VALUE
    for wrong in (plain, 0, 12345):
        assert driver.code("cuIpcGetEventHandle", ctypes.byref(handle), wrong) == INVALID_HANDLE
    handle = event_handle(driver, event)
    assert driver.code("cuIpcOpenEventHandle", ctypes.byref(out), handle) == INVALID_CONTEXT
    driver.cuEventDestroy_v2(event)
    assert driver.code("cuIpcGetEventHandle", ctypes.byref(handle), event) == INVALID_HANDLE


def test_wrong_handles_are_refused(driver, scene):
    _, memory, event = scene
    body = """
mine = read_handle()
good, of_memory = bytes(mine.bytes), read_handle()
codes = {open_event(Handle())[0], open_event(of_memory)[0], open_code(mine)[0]}
for at in range(64):
    for flip in (1, 0x80, 0xFF):
        codes.add(open_event(Handle.from_buffer_copy(good[:at] + bytes([good[at] ^ flip]) + good[at + 1:]))[0])
tell(*codes)
tell(driver.code("cuIpcOpenEventHandle", None, mine))
code, opened = open_event(mine)
tell(code, driver.code("cuIpcGetEventHandle", ctypes.byref(Handle()), opened))
sys.stdin.readline()
tell(open_event(mine)[0], driver.code("cuEventQuery", opened))
"""
    with Other(EVENTS + body) as other:
        other.tell(words(event_handle(driver, event)))
        other.tell(words(handle_of(driver, memory)))
        assert other.hear() == [str(INVALID_HANDLE)]
        assert other.hear() == [str(INVALID_VALUE)]
        assert other.hear() == ["0", str(INVALID_HANDLE)]
        driver.cuEventDestroy_v2(event)
        other.tell("destroyed")
        assert other.hear() == [str(INVALID_HANDLE), "0"]
        other.end()
