"""What the comparing proxy adds: the same streams straight from a server, through HAProxy, and through `anywarp shadow`, in turns in one run.

`python benchmarks/shadow_latency.py --streams 500 --rounds 3` prints, for each way, how long a piece of a stream is under way (median, 99th
percentile) and the processor time of what stands between, per request and per piece. `--seconds 600 --ways shadow` is the long run: it says what was
lost and how the proxy's memory went. Only this machine's own addresses are used, and everything ends by itself.
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
import statistics
import subprocess
import sys
import tempfile
import time

PIECES = 40
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


async def measure(port: int, streams: int, seconds: float, pause: float) -> dict[str, object]:
    """Hold so many streams for so long; return each piece's time under way in nanoseconds, and what was lost."""
    times: list[int] = []
    done, lost = 0, 0
    end = time.monotonic() + seconds

    async def caller(n: int) -> None:
        nonlocal done, lost
        await asyncio.sleep(pause * PIECES * n / streams)  # spread over the length of one stream
        reader = writer = None
        while time.monotonic() < end:
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                assert reader is not None
                writer.write(REQUEST)
                await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
                for _ in range(PIECES):
                    piece = await asyncio.wait_for(reader.readuntil(b"\n\n\r\n"), 30)
                    times.append(time.monotonic_ns() - int(piece[-24:-5]))
                await reader.readuntil(b"\r\n0\r\n\r\n")
                done += 1
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError):
                lost += 1
                if writer is not None:
                    writer.close()
                writer = None
        if writer is not None:
            writer.close()

    await asyncio.gather(*(caller(n) for n in range(streams)))
    return {"times": times, "done": done, "lost": lost}


def processor_time(pid: int) -> float:
    """Seconds of processor time of one process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Resident memory in MiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


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
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of each way in each round")
    parser.add_argument("--pause", type=float, default=0.25, help="seconds between two pieces of a stream")
    parser.add_argument("--sample", default="0.05", help="the share that the proxy replays")
    parser.add_argument("--ways", default="direct,haproxy,shadow")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve is not None:
        asyncio.run(serve(args.serve))
        return
    names = [name for name in args.ways.split(",") if name != "haproxy" or shutil.which("haproxy")]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    ways = Ways(args.pause, args.sample)
    try:
        run(ways, names, min(args.streams, 2000), min(args.rounds, 20), min(args.seconds, 1200.0))
    finally:
        ways.close()


def run(ways: Ways, names: list[str], streams: int, rounds: int, seconds: float) -> None:
    opened = {name: ways.open(name) for name in names}
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for number in range(rounds):
        for name in names:
            port, pid = opened[name]
            before, held = (processor_time(pid), memory(pid)) if pid else (0.0, 0.0)
            result = asyncio.run(measure(port, streams, seconds, ways.pause))
            times = sorted(result["times"])  # type: ignore[call-overload]
            median, p99 = times[len(times) // 2] / 1e6, times[len(times) * 99 // 100] / 1e6
            seen[name].append((median, p99))
            line = f"{name:8} round {number + 1}: median {median:7.3f} ms, p99 {p99:8.3f} ms, {result['done']} streams, {result['lost']} lost"
            if pid:
                spent = processor_time(pid) - before
                each = 1e6 * spent / max(1, len(times))
                line += f"; {1000 * spent / max(1, int(str(result['done']))):.2f} ms of processor time a stream, {each:.0f} µs a piece; memory {held:.0f} -> {memory(pid):.0f} MiB"
            print(line, flush=True)
    if "direct" in seen:
        for name in names[1:]:
            added = [statistics.median(a[n] - b[n] for a, b in zip(seen[name], seen["direct"])) for n in (0, 1)]
            print(
                f"{name}: adds {added[0]:.3f} ms at the median, {added[1]:.3f} ms at the 99th percentile (median of {rounds} rounds)"
            )


if __name__ == "__main__":
    main()
