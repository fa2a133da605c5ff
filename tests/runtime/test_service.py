"""The compile service as programs meet it: over its socket, with a device that can be told to misbehave."""

import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from anywarp import settings
from anywarp.compiler.artifact import unpack
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.options import write_options
from anywarp.devices.device import find
from anywarp.diagnostics import AnywarpError
from anywarp.runtime import keys, wire
from anywarp.runtime.cache import Cache, intact
from anywarp.runtime.client import Client
from anywarp.runtime.place import socket_paths
from anywarp.runtime.wire import message
from fakes.images import ptx


def module(*kernels: str) -> bytes:
    return ptx(*(f"{name}()" for name in kernels))


def compiled(place) -> list[str]:
    record = place / "compiled"
    return record.read_text().split() if record.exists() else []


def payload(container: bytes) -> bytes:
    assert intact(container)
    _, header_bytes, payload_bytes = struct.unpack_from("<8sIQ", container)
    return container[52 + header_bytes :]


def service_pid(client: Client) -> int:
    client.ping()
    credentials = client._connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return struct.unpack("3i", credentials)[0]


def workers_of(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_kernel_is_compiled_once_and_then_served_from_the_cache(client, place):
    first = client.compile("toy:1", module("add"), "add", (32, 1, 1))
    assert first.value("status") == "ok" and first.value("cached") == "0"
    assert payload(first.payload) == b"add (32, 1, 1)"
    second = client.compile("toy:1", module("add"), "add", (32, 1, 1))
    assert second.value("cached") == "1" and second.payload == first.payload
    assert compiled(place) == ["add"]


def test_a_variant_is_made_after_a_kernel_that_nobody_waits_for(client, place):
    """rmsnorm's trip counts depend on its third integer: the one who asked may have ended before asking for code for multiples."""
    image = (Path(__file__).resolve().parents[2] / "benchmarks" / "kernels" / "rmsnorm.ptx").read_bytes()
    identity, block, cache = find("cpu").identity(), (256, 1, 1), Cache(place / "cache", 1 << 30)
    first = client.compile(identity, image, "rmsnorm", block, ahead=True)
    general = unpack(first.payload)
    assert general.variant
    options = write_options(Specialisation(block, 0, general.variant))
    key = keys.kernel_key("test", identity, keys.image_key(image), "rmsnorm", block, options)
    client.close()
    _until(lambda: cache.get(key) is not None)
    assert len(list(cache.entries())) == 2 and unpack(cache.get(key)).variant == ()


def test_no_variant_is_made_of_a_kernel_that_somebody_waits_for(client, place):
    image = (Path(__file__).resolve().parents[2] / "benchmarks" / "kernels" / "rmsnorm.ptx").read_bytes()
    client.compile(find("cpu").identity(), image, "rmsnorm", (256, 1, 1))
    pid = service_pid(client)
    client.close()
    _until(lambda: not Path(f"/proc/{pid}").exists())  # it ends when it has nothing to do
    assert len(list(Cache(place / "cache", 1 << 30).entries())) == 1


def test_what_was_compiled_outlives_the_service(client, place):
    client.compile("toy:1", module("add"), "add", (0, 0, 0))
    os.kill(service_pid(client), signal.SIGKILL)
    again = Client("test", place / "cache")
    reply = again.compile("toy:1", module("add"), "add", (0, 0, 0))
    again.close()
    assert reply.value("cached") == "1" and payload(reply.payload) == b"add None"


def test_a_module_is_described(client):
    reply = client.describe("toy:1", module("add", "sub"))
    assert payload(reply.payload) == b"add,sub"


def test_the_service_tells_which_compiler_it_is(client):
    assert client.ping() == "test"


def test_what_a_device_cannot_compile_is_told_with_a_cuda_code(client, place):
    reply = client.compile("toy:1", module("add"), "sub", (1, 1, 1))
    assert reply.value("status") == "error"
    assert (reply.value("cuda"), reply.value("diagnostic")) == ("801", "C999")
    assert b"no kernel sub" in reply.payload and b"help: name one that exists" in reply.payload
    assert not list(Cache(place / "cache", 1 << 30).entries())


@pytest.mark.parametrize(
    ("image", "cuda"),
    [
        (b"\xff\xfe not PTX", "218"),
        (b".version 7.8\n.target sm_80\n.visible .entry add() {", "218"),
        (b"\x50\xed\x55\xba", "200"),
        (b"\x7fELF" + bytes(60), "200"),
        (b".version 7.8\n.target sm_80\n.visible .entry add() {" + b"{" * 100_000 + b"}" * 100_001, "218"),
    ],
    ids=["not text", "truncated", "short fatbin", "empty ELF", "deep"],
)
def test_a_broken_image_is_an_error_and_the_service_lives(client, image, cuda):
    reply = client.compile("toy:1", image, "add", (1, 1, 1))
    assert (reply.value("status"), reply.value("cuda")) == ("error", cuda), reply.payload
    assert client.compile("toy:1", module("add"), "add", (1, 1, 1)).value("status") == "ok"


def test_an_unknown_device_is_an_error(client):
    reply = client.compile("abacus:1", module("add"), "add", (1, 1, 1))
    assert (reply.value("cuda"), reply.value("diagnostic")) == ("209", "D001")


def test_a_compiler_that_crashes_takes_only_its_kernel_with_it(client):
    reply = client.compile("toy:1", module("crash", "add"), "crash", (1, 1, 1))
    assert (reply.value("cuda"), reply.value("diagnostic")) == ("999", "R004")
    assert b"kernel crash (signal 11)" in reply.payload
    assert client.compile("toy:1", module("crash", "add"), "add", (1, 1, 1)).value("status") == "ok"


def test_a_compiler_that_never_ends_is_stopped(place, monkeypatch):
    monkeypatch.setenv("ANYWARP_COMPILE_LIMIT", "2.5")
    with contextlib.closing(Client("test", place / "cache")) as client:
        reply = client.compile("toy:1", module("hang"), "hang", (1, 1, 1))
        assert (reply.value("cuda"), reply.value("diagnostic")) == ("999", "R005")
        assert client.compile("toy:1", module("add"), "add", (1, 1, 1)).value("status") == "ok"


def test_a_defect_of_the_compiler_is_named_as_one(client):
    reply = client.compile("toy:1", module("defect"), "defect", (1, 1, 1))
    assert (reply.value("cuda"), reply.value("diagnostic")) == ("999", "R006")
    assert b"KeyError" in reply.payload and b"toy_device.py" in reply.payload


LIMITED = """
import ctypes, os, resource, sys
sys.path[:0] = [{tests!r}]
ctypes.CDLL(None).prctl(24, 24)  # PR_CAPBSET_DROP of CAP_SYS_RESOURCE: even root's service may not raise a hard limit then
from pathlib import Path
from anywarp.runtime.client import Client
from fakes.images import ptx
resource.setrlimit(resource.{kind}, ({limit}, {limit}))
client = Client("test", Path({cache!r}))
for kernel in {kernels!r}:
    reply = client.compile("toy:1", ptx(*(name + "()" for name in {kernels!r})), kernel, (1, 1, 1))
    print(reply.value("status"), reply.value("diagnostic") if reply.value("status") == "error" else "", reply.payload[:200])
"""


@pytest.mark.parametrize(
    ("kind", "limit", "bad", "said"),
    [
        ("RLIMIT_CPU", 4, "spin", b"after 4 seconds of processor time"),
        ("RLIMIT_AS", 8 << 30, "eat", b"it may use 8192 MiB"),
    ],
)
def test_a_hard_limit_that_stays_is_named(place, kind, limit, bad, said):
    program = LIMITED.format(
        kind=kind,
        limit=limit,
        cache=str(place / "cache"),
        kernels=["add", bad, "sub"],
        tests=str(Path("tests").resolve()),
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=100)
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [b"ok", b"error", b"ok"], done.stdout + done.stderr
    assert b"R009" in lines[1] and said in lines[1], lines[1]


def test_a_service_that_can_have_no_place_says_so_at_once(place):
    """A client that waits for it is told, and does not wait in vain."""
    file = place / "file"
    file.write_text("")
    command = settings.python_command(
        sys.executable, "anywarp.runtime.service", "--detach", "--socket", str(file / "a.sock")
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "not a private directory" in done.stderr


def test_two_programs_asking_for_the_same_kernel_at_once_compile_it_once(place):
    replies = []

    def ask():
        with contextlib.closing(Client("test", place / "cache")) as client:
            replies.append(client.compile("toy:1", module("slow"), "slow", (8, 1, 1)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [payload(reply.payload) for reply in replies] == [b"slow (8, 1, 1)"] * 4
    assert compiled(place) == ["slow"]


def test_many_programs_start_one_service(place, monkeypatch):
    monkeypatch.setenv("ANYWARP_SERVICE_IDLE", "30")  # one that ends meanwhile would be followed by another
    pids = []

    def ask():
        with contextlib.closing(Client("test", place / "cache")) as client:
            pids.append(service_pid(client))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(pids) == 4 and len(set(pids)) == 1


def test_a_service_killed_in_mid_flight_is_replaced(place):
    """The client sees its connection break while the kernel compiles, starts another service and gets the kernel."""
    with contextlib.closing(Client("test", place / "cache")) as watcher:
        pid = service_pid(watcher)
        replies = []

        def ask():
            with contextlib.closing(Client("test", place / "cache")) as client:
                replies.append(client.compile("toy:1", module("slow"), "slow", (2, 1, 1)))

        thread = threading.Thread(target=ask)
        thread.start()
        _until(lambda: compiled(place) == ["slow"])
        os.kill(pid, signal.SIGKILL)
        thread.join(60)
    assert payload(replies[0].payload) == b"slow (2, 1, 1)"
    assert compiled(place) == ["slow", "slow"]


def test_a_killed_service_leaves_no_workers(client):
    pid = service_pid(client)
    _until(lambda: workers_of(pid))
    workers = workers_of(pid)
    os.kill(pid, signal.SIGKILL)
    _until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def test_a_damaged_cache_entry_heals(client, place):
    first = client.compile("toy:1", module("add"), "add", (32, 1, 1))
    [entry] = Cache(place / "cache", 1 << 30).entries()
    entry.path.write_bytes(first.payload[:-3])
    again = client.compile("toy:1", module("add"), "add", (32, 1, 1))
    assert again.value("cached") == "0" and again.payload == first.payload
    assert entry.path.read_bytes() == first.payload


def test_without_a_cache_kernels_still_compile_and_it_is_said_once(client, place):
    shutil.rmtree(place / "cache", ignore_errors=True)  # it holds a place for the socket where its path is short enough
    (place / "cache").write_text("a file where the folder should be")
    replies = [client.compile("toy:1", module("add"), "add", (32, 1, 1)) for _ in range(2)]
    assert [reply.value("status") for reply in replies] == ["ok", "ok"]
    warnings = [line for reply in replies for line in reply.lines if line[0] == "warning"]
    assert len(warnings) == 1 and "R001" in warnings[0][1]


@pytest.mark.parametrize(
    "change",
    [
        {"key": "0" * 64},
        {"kernel": "sub"},
        {"image": "0" * 64},
        {"block": "1 1"},
        {"block": "a b c"},
        {"op": "format"},
    ],
    ids=lambda change: f"{next(iter(change))}",
)
def test_a_request_that_does_not_fit_together_is_refused(client, place, change):
    image = module("add")
    image_key = keys.image_key(image)
    key = keys.kernel_key("test", "toy:1", image_key, "add", (1, 1, 1), "")
    fields = {
        "op": "compile", "image": image_key, "device": "toy:1", "kernel": "add", "block": "1 1 1", "options": "", "key": key,
    }  # fmt: skip
    fields.update(change)
    request = wire.Message(tuple((k, *v.split(" ")) for k, v in fields.items()), image)
    client.ping()
    wire.send(client._connection, request)
    reply = wire.receive(client._connection)
    assert (reply.value("status"), reply.value("diagnostic")) == ("error", "R007")
    assert compiled(place) == []


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("<IQ", 0xFFFFFFFF, 0),
        struct.pack("<IQ", 10, 2**63),
        struct.pack("<IQ", 4, 0) + b"\xff\xfe\xfd\n",
        struct.pack("<IQ", 4, 0) + b"op p",
        struct.pack("<IQ", 100, 0) + b"op",
        b"\x01",
    ],
    ids=["http", "huge header", "huge payload", "not UTF-8", "no line end", "cut short", "one byte"],
)
def test_garbage_ends_the_connection_and_not_the_service(client, place, garbage):
    pid = service_pid(client)
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(socket_paths("test", place / "cache")[0]))
        raw.sendall(garbage)
        raw.shutdown(socket.SHUT_WR)
        raw.settimeout(10)
        with contextlib.suppress(ConnectionResetError):
            assert raw.recv(1) == b""
    assert service_pid(client) == pid


def test_a_place_that_others_can_reach_is_not_used(place, monkeypatch):
    folder = socket_paths("test", place / "cache")[0].parent
    folder.chmod(0o755)
    other = socket_paths("test", place / "cache")[0]
    assert other.parent != folder
    assert other.parent.stat().st_mode & 0o077 == 0


def test_a_link_in_the_place_of_the_folder_is_not_followed(place):
    target = place / "elsewhere"
    target.mkdir(mode=0o700)
    (place / "run" / "anywarp").symlink_to(target)
    used = socket_paths("test", place / "cache")[0].parent
    assert used.name in ("run", f"anywarp-{os.getuid()}") and not used.is_symlink()
    assert list(target.iterdir()) == []


def test_a_long_path_falls_back_to_a_short_private_one(place, monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    deep = place / ("x" * 90) / "cache"
    assert len(str(socket_paths("test", deep)[0])) < 108


def test_an_interpreter_without_anywarp_is_named(place, monkeypatch):
    monkeypatch.setenv("ANYWARP_PYTHON", "/bin/false")
    with contextlib.closing(Client("test", place / "cache")) as client, pytest.raises(AnywarpError) as caught:
        client.ping()
    assert caught.value.diagnostic.code == "R003"
    assert "/bin/false" in caught.value.diagnostic.message


def test_the_service_ends_when_nobody_asks(client, place):
    pid = service_pid(client)
    client.close()
    _until(lambda: not Path(f"/proc/{pid}").exists())
    assert not socket_paths("test", place / "cache")[0].exists()


def test_a_client_that_stays_connected_does_not_keep_the_service(client, place):
    pid = service_pid(client)
    _until(lambda: not Path(f"/proc/{pid}").exists())
    assert client.ping() == "test"  # a new one


def test_values_survive_the_wire():
    awkward = ["a b", "%41", "line\nbreak", "tab\t", "ünïcødé", "\x00\x7f", "plain"]
    sent = message(("name", *awkward), ("empty",))
    header_bytes, _ = wire.lengths(wire.head(sent)[:12])
    assert wire.parse_header(wire.head(sent)[12 : 12 + header_bytes]) == sent.lines


def _until(condition, limit: float = 30.0) -> None:
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
