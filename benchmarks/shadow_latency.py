"""What the comparing proxy adds: the same streams straight from a server, through HAProxy, and through `anywarp shadow`.

`python benchmarks/shadow_latency.py` holds 500 streams each way for ten minutes and prints how long a piece of a stream is under way (median, 99th
percentile), the processor time of what stands between, what was lost and how memory went; `--seconds 30` is a short one. Exit code 1: something was lost, memory
grew, or the proxy adds more than a millisecond at the median or three at the 99th percentile. All ways at the same time share the machine's noise, and so
few pieces a second (`--pause`) that no process here fills a core; where three times as many streams are more than the machine holds, `--in-turn` has one way
after the other, the proxy for all of the time and the others for a fifth of it each. Only this machine's own addresses are used, and everything ends by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from array import array

PIECES = 40
MEDIAN, P99, GROWTH = 1.0, 3.0, 8.0
"""Limits: milliseconds that the proxy may add, and MiB by which its memory may grow after the first fifth."""
BODY = json.dumps({"prompt": "Once upon a time", "max_tokens": PIECES, "temperature": 0, "stream": True}).encode()
REQUEST = (
    b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    % len(BODY)
    + BODY
)
HAPROXY = """
global
  maxconn 4000
defaults
  mode http
  option http-no-delay
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend f
  bind 127.0.0.1:{listen}
  default_backend b
backend b
  server s 127.0.0.1:{port}
"""


async def serve(pause: float) -> None:
    """A server whose pieces say when they were sent; prints its port."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(len(BODY))
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                )
                for n in range(PIECES):
                    text = b'data: {"choices": [{"text": " w", "finish_reason": %b}], "sent": %19d}\n\n' % (
                        b'"length"' if n == PIECES - 1 else b"null", time.monotonic_ns(),
                    )  # fmt: skip
                    writer.write(b"%x\r\n%b\r\n" % (len(text), text))
                    await asyncio.sleep(pause)
                writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=2000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.sleep(3600)


class Caller(asyncio.Protocol):
    """One caller of one way, who asks for stream after stream; keeps each piece's time under way in nanoseconds."""

    def __init__(self, told: Told, end: float) -> None:
        self.told, self.end = told, end
        self.buffer, self.asked = b"", False
        self.closed = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        self.asked = time.monotonic() < self.end
        if self.asked:
            self.pieces = 0
            self.transport.write(REQUEST)
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        *whole, self.buffer = (self.buffer + data).split(b"\n\n\r\n")
        for piece in whole:
            at = piece.rfind(b'"sent": ')
            if at >= 0:
                self.pieces += 1
                self.told.times.append(now - int(piece[at + 8 : -1]))
        if self.buffer.endswith(b"\r\n0\r\n\r\n") or (whole and self.buffer == b"0\r\n\r\n"):
            self.told.done += self.pieces == PIECES
            self.told.lost += self.pieces != PIECES
            self.buffer = b""
            self.ask()

    def connection_lost(self, exc: Exception | None) -> None:
        self.told.lost += self.asked
        self.closed.set_result(None)


class Told:
    """What the callers of one way saw."""

    def __init__(self) -> None:
        self.times, self.done, self.lost = array("q"), 0, 0


async def call(port: int, start: float, end: float, told: Told) -> None:
    """Ask for streams until the end; who loses one goes on with a new connection."""
    await asyncio.sleep(start)
    while time.monotonic() < end:
        try:
            _, caller = await asyncio.get_running_loop().create_connection(lambda: Caller(told, end), "127.0.0.1", port)
            await asyncio.wait_for(caller.closed, end - time.monotonic() + 120)
        except (OSError, asyncio.TimeoutError):
            told.lost += 1


async def measure(
    ways: dict[str, tuple[int, int | None]], streams: int, seconds: float, pause: float
) -> tuple[dict[str, Told], dict[str, list[float]]]:
    """Hold so many streams each way for so long; return what callers saw and the memory of what stands between, twenty times over the run."""
    told = {name: Told() for name in ways}
    held: dict[str, list[float]] = {name: [] for name, (_, pid) in ways.items() if pid}
    end = time.monotonic() + seconds
    calls = [
        call(port, pause * PIECES * n / streams, end, told[name])  # spread over the length of one stream
        for name, (port, _) in ways.items() for n in range(streams)
    ]  # fmt: skip
    watching = asyncio.create_task(watch(ways, held, seconds / 20, told))
    await asyncio.gather(*calls)
    watching.cancel()
    return told, held


async def watch(
    ways: dict[str, tuple[int, int | None]], held: dict[str, list[float]], every: float, told: dict[str, Told]
) -> None:
    while True:
        await asyncio.sleep(every)
        for name, memories in held.items():
            memories.append(memory(ways[name][1] or 0))
        print(
            "  " + ", ".join(f"{name}: {one.done} streams, {one.lost} lost" for name, one in told.items()), flush=True
        )


def processor_time(pid: int) -> float:
    """Seconds of processor time of one process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Resident memory in MiB of a process and what it started."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    own = int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024
    return own + sum(memory(int(child)) for child in children)


class Ways:
    """The server, and what stands before it."""

    def __init__(self, pause: float, sample: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.processes: list[subprocess.Popen[str]] = []
        self.server = self.start([sys.executable, __file__, "--serve", str(pause)], stdout=subprocess.PIPE)
        assert self.server.stdout
        self.port = int(self.server.stdout.readline())
        self.pause, self.sample = pause, sample

    def start(self, command: list[str], **more: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(command, text=True, start_new_session=True, **more)  # type: ignore[call-overload]
        self.processes.append(process)
        return process

    def open(self, way: str) -> tuple[int, int | None]:
        """Return a way's port, and the process that stands between."""
        if way == "direct":
            return self.port, None
        if way == "haproxy":
            listen = 20000 + os.getpid() % 20000
            configuration = pathlib.Path(self.folder.name, "haproxy.cfg")
            configuration.write_text(HAPROXY.format(listen=listen, port=self.port))
            process = self.start(["haproxy", "-f", str(configuration)], stderr=subprocess.DEVNULL)
            time.sleep(1)
            return listen, process.pid
        url = f"http://127.0.0.1:{self.port}"
        command = [
            sys.executable,
            "-m",
            "anywarp",
            "shadow",
            "--source",
            url,
            "--target",
            url,
            "--listen",
            "127.0.0.1:0",
        ]
        process = self.start(
            [*command, "--folder", self.folder.name, "--sample", self.sample, "--gpu-seconds-per-minute", "60"],
            stderr=subprocess.PIPE,
        )
        assert process.stderr
        return int(process.stderr.readline().split(";")[0].rpartition(":")[2]), process.pid

    def close(self) -> None:
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()
        self.folder.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=500, help="of each way, at the same time")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two pieces of a stream")
    parser.add_argument("--sample", default="0.05", help="the share that the proxy replays")
    parser.add_argument("--ways", default="direct,haproxy,shadow")
    parser.add_argument("--in-turn", action="store_true", help="one way after the other instead of all at once")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve is not None:
        asyncio.run(serve(args.serve))
        return
    names = [name for name in args.ways.split(",") if name != "haproxy" or shutil.which("haproxy")]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    ways = Ways(args.pause, args.sample)
    try:
        good = run(ways, names, min(args.streams, 1000), min(args.seconds, 1200.0), args.in_turn)
    finally:
        ways.close()
    sys.exit(0 if good else 1)


def run(ways: Ways, names: list[str], streams: int, seconds: float, in_turn: bool) -> bool:
    """Print what was seen; return whether the proxy kept the limits."""
    opened = {name: ways.open(name) for name in names}
    between = {name: pid for name, (_, pid) in opened.items() if pid}
    before = {name: processor_time(pid) for name, pid in between.items()}
    own, began = time.process_time(), time.monotonic()
    told: dict[str, Told] = {}
    held: dict[str, list[float]] = {}
    for part in [[name] for name in names] if in_turn else [names]:
        length = seconds / 5 if in_turn and part != ["shadow"] else seconds
        seen, memories = asyncio.run(measure({name: opened[name] for name in part}, streams, length, ways.pause))
        told |= seen
        held |= memories
    took = time.monotonic() - began
    print(
        f"callers: {(time.process_time() - own) / took:.2f} of a core, server: {processor_time(ways.server.pid) / took:.2f}"
    )
    for name, one in told.items():
        print(
            f"{name:8} median {at(one, 0.5):7.3f} ms, p99 {at(one, 0.99):8.3f} ms, {one.done} streams, {one.lost} lost",
            end="",
        )
        if name in between:
            spent, late = processor_time(between[name]) - before[name], held[name][4:]
            print(
                f"; {1e6 * spent / max(1, len(one.times)):.0f} µs of processor time a piece; memory {late[0]:.0f} -> {late[-1]:.0f} MiB",
                end="",
            )
        print()
    good = not any(one.lost for one in told.values())
    for name in between:
        if "direct" not in told:
            continue
        median, p99 = (at(told[name], p) - at(told["direct"], p) for p in (0.5, 0.99))
        print(f"{name}: adds {median:.3f} ms at the median, {p99:.3f} ms at the 99th percentile")
        if name == "shadow":
            good = good and median <= MEDIAN and p99 <= P99 and held[name][-1] - held[name][4] <= GROWTH
    print("within the limits" if good else "NOT within the limits")
    return good


def at(told: Told, p: float) -> float:
    """Return a quantile of the times under way in milliseconds."""
    times = sorted(told.times)
    return times[min(int(p * len(times)), len(times) - 1)] / 1e6 if times else float("nan")


if __name__ == "__main__":
    main()
