"""HAProxy before both pools, started by us and kept running when we end: the traffic must not hang on whoever watches it.

The share lies in a map, changed through HAProxy's socket (management guide, "set map") and in the file, so that a new process begins with it.
A conversation stays on the side where it began (a stick table by header or body, else a cookie); a rollback takes all of them back.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import jinja2

from anywarp.deploy.rollout.plan import HaproxyDriver, Member, Plan, Pool
from anywarp.deploy.rollout.problems import DRIVER, problem
from anywarp.deploy.rollout.traffic import Traffic
from anywarp.diagnostics import AnywarpError

_HERE = Path(__file__).parent
_LONGEST_SOCKET = 100
"""Bytes of a socket's path; the system takes 107."""
STEPS = 10_000


class Haproxy:
    """HAProxy with the configuration of one plan."""

    def __init__(self, plan: Plan, settings: HaproxyDriver, folder: Path) -> None:
        self._plan, self._settings = plan, settings
        self._configuration, self._map, self._pid = folder / "haproxy.cfg", folder / "share.map", folder / "haproxy.pid"
        self._socket = folder / "haproxy.sock"

    def check(self) -> str:
        """Say which HAProxy is used, after it has read the configuration."""
        if len(str(self._socket)) > _LONGEST_SOCKET:
            raise _problem(f"the socket's path {self._socket} is too long", "set ANYWARP_ROLLOUTS to a shorter folder")
        binary = self._binary()
        said = subprocess.run([binary, "-v"], capture_output=True, text=True, timeout=20)
        version = re.search(r"version (\d+)\.(\d+)\S*", said.stdout)
        if version is None or (int(version[1]), int(version[2])) < (2, 5):
            raise _problem(f"{binary} is no HAProxy from 2.5 on", "install a newer one, or name it by `driver.binary`")
        return f"HAProxy {version[0].removeprefix('version ')} at {self._settings.listen}"

    def apply(self, traffic: Traffic) -> None:
        """Start HAProxy where it does not run, and give it the share."""
        steps = round(traffic.share * STEPS)
        if not self._map.exists():
            self._write(self._map, f"share {steps}\n")
        text = self._text()
        changed = not self._configuration.exists() or self._configuration.read_text(encoding="utf-8") != text
        if changed:
            self._write(self._configuration, text)
        running = self._running()
        self._write(self._map, f"share {steps}\n")
        if not running or changed:
            self._start(running)
        else:
            self._ask(f"set map {self._map} share {steps}")
        if steps == 0:
            self._ask("clear table sides")  # who came back stays where they are when the share grows again

    def read(self) -> float | None:
        """Return the share in HAProxy's memory."""
        if not self._running():
            return None
        found = re.search(r"\sshare (\d+)\s*$", self._ask(f"show map {self._map}"), re.M)
        return int(found[1]) / STEPS if found else None

    def describe(self, traffic: Traffic) -> str:
        """Return the configuration, and the command that sets the share."""
        return f"{self._text()}\n# then: set map {self._map} share {round(traffic.share * STEPS)}\n"

    def answer(self, stage: str, result: str) -> None:
        """Nobody asks."""

    def close(self) -> None:
        """Leave HAProxy running."""

    def stop(self) -> None:
        """End HAProxy once the requests in it have ended."""
        pid = self._process()
        if pid and self._running():
            subprocess.run(["kill", "-USR1", str(pid)], check=False, timeout=10)

    def _binary(self) -> str:
        found = shutil.which(self._settings.binary)
        if found is None:
            raise _problem(
                f"there is no {self._settings.binary}",
                "install it (`apt-get install haproxy`), or choose another driver in the plan",
            )
        return found

    def _text(self) -> str:
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        affinity = self._plan.endpoint.affinity
        return environment.get_template("haproxy.cfg").render(
            name=self._plan.name, map=self._map, socket=self._socket, listen=self._settings.listen,
            drain=max(1, round(self._settings.drain)), lifetime=max(1, round(affinity.lifetime)),
            header=affinity.header, cookie=affinity.cookie, inter="1s",
            pools=[("source", _servers(self._plan.source)), ("target", _servers(self._plan.target))],
        )  # fmt: skip

    def _start(self, running: bool) -> None:
        """Start HAProxy, in place of one that runs with another configuration; that one ends with its requests."""
        command = [self._binary(), "-D", "-f", str(self._configuration), "-p", str(self._pid)]
        old = self._process()
        if running and old:
            command += ["-x", str(self._socket), "-sf", str(old)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
        if said.returncode:
            told = " ".join(said.stderr.partition("[ALERT]")[2].split()) or "it said nothing"
            raise _problem(
                f"HAProxy does not start: {told[:400]}",
                f"see {self._configuration}; is {self._settings.listen} free?",
            )
        end = time.monotonic() + 10
        while not self._running():
            if time.monotonic() > end:
                raise _problem("HAProxy started and does not answer on its socket", f"see {self._configuration}")
            time.sleep(0.02)

    def _process(self) -> int:
        try:
            return int(self._pid.read_text(encoding="ascii").split()[0])
        except (OSError, ValueError, IndexError):
            return 0

    def _running(self) -> bool:
        try:
            return "Pid:" in self._ask("show info")
        except AnywarpError:
            return False

    def _ask(self, command: str) -> str:
        """Send one command to HAProxy and return what it says."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.settimeout(5)
                link.connect(str(self._socket))
                link.sendall(command.encode() + b"\n")
                parts: list[bytes] = []
                while len(parts) < 10_000 and (part := link.recv(65536)):
                    parts.append(part)
        except OSError as error:
            raise _problem(
                f"HAProxy does not answer on {self._socket}: {error}", "`anywarp rollout run` starts it again"
            ) from error
        return b"".join(parts).decode("utf-8", "replace")

    @staticmethod
    def _write(path: Path, text: str) -> None:
        beside = path.with_name(f".{path.name}.new")
        beside.write_text(text, encoding="utf-8")
        beside.chmod(0o600)
        beside.replace(path)


def _servers(pool: Pool) -> list[dict[str, object]]:
    largest = max(m.capacity for m in pool.members)
    return [_server(m, largest) for m in pool.members]


def _server(member: Member, largest: float) -> dict[str, object]:
    parts = urlsplit(member.url)
    host = parts.hostname or ""
    tls = parts.scheme == "https"
    shown = f"[{host}]" if ":" in host else host
    return {
        "name": member.name,
        "host": host,
        "tls": tls,
        "address": f"{shown}:{parts.port or (443 if tls else 80)}",
        "weight": max(1, round(256 * member.capacity / largest)),
        "health": member.health,
    }


def _problem(message: str, help: str) -> AnywarpError:
    return problem(DRIVER, message, help)


def make(plan: Plan, folder: Path) -> Haproxy:
    """Return the driver of a plan."""
    assert isinstance(plan.driver, HaproxyDriver)
    return Haproxy(plan, plan.driver, folder)
