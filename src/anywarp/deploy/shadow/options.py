"""What the proxy is told when it starts (`Options`), and what may change while it runs (`Control`), read from a file that its driver replaces."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:  # relay and comparer start without what reads plans
    from anywarp.deploy.rollout.plan import Plan, Pool

SHADOW_HEADER = "x-anywarp-shadow"
"""Marks a request that no caller made, so that gateways, billing and logs can tell; its value is the rollout's name."""

SIDE_HEADER = "x-anywarp-side"
"""In an answer that came through a gateway: `source` or `target`, and behind a slash the member, as the gateway chose."""


@dataclass(frozen=True)
class Server:
    """One server of a pool: where it answers, and what a second of one request on it costs."""

    name: str
    host: str
    port: int
    tls: bool = False
    cost_per_second: float = 0.0

    @property
    def url(self) -> str:
        """Return scheme, host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"


def server(name: str, url: str, cost_per_second: float = 0.0) -> Server:
    """Return the server at a URL of scheme, host and port; ValueError where it has more or less."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise ValueError(f"expected an address such as http://10.0.0.1:8000, not {url}")
    tls = parts.scheme == "https"
    return Server(name, parts.hostname, parts.port or (443 if tls else 80), tls, cost_per_second)


@dataclass(frozen=True)
class Options:
    """What holds as long as the proxy runs."""

    rollout: str
    database: str
    control: str
    source: tuple[Server, ...]
    target: tuple[Server, ...]
    gateway: Server | None = None
    """Where everything is sent, which then chooses the side; without one the proxy chooses itself, by the target's share."""
    host: str = "127.0.0.1"
    port: int = 8080
    sample: float = 0.1
    noise: float = 0.02
    gpu_seconds_per_minute: float = 60.0
    timeout: float = 120.0
    store_prompts: bool = False
    model: str = ""
    lengths: tuple[int, ...] = (512, 4096)
    conversation: str = "x-conversation-id"
    cookie: str = "anywarp-side"
    certificate: str = ""
    """PEM files of the certificate that callers are shown, and of its key; without them callers speak plainly."""
    key: str = ""
    seed: int = 0
    """Which requests are sampled, and how conversations fall: another number, another choice."""

    @classmethod
    def read(cls, text: str) -> Options:
        """Return the options that `write` wrote."""
        given = json.loads(text)
        for pool in ("source", "target"):
            given[pool] = tuple(Server(**one) for one in given[pool])
        given["gateway"] = Server(**given["gateway"]) if given["gateway"] else None
        given["lengths"] = tuple(given["lengths"])
        return cls(**given)

    def write(self) -> str:
        """Return the options as text, for another process of ours."""
        return json.dumps(asdict(self))

    def length_class(self, tokens: int) -> str:
        """Return the class of a prompt with so many tokens, named as the plan names it (`Endpoint.length_class`)."""
        for bound in self.lengths:
            if tokens <= bound:
                return f"to {bound}"
        return f"over {self.lengths[-1]}" if self.lengths else "all"


def options_of_plan(plan: Plan, database: Path, control: Path) -> Options:
    """Return the options that a rollout's plan asks for: through HAProxy where that is the driver, else straight to the pools."""
    host, _, port = plan.endpoint.listen.rpartition(":")
    gateway = server("haproxy", f"http://{plan.driver.listen}") if plan.driver.kind == "haproxy" else None
    return Options(
        rollout=plan.name, database=str(database), control=str(control), gateway=gateway,
        source=_servers(plan.source), target=_servers(plan.target), host=host.strip("[]"), port=int(port),
        sample=plan.shadow.sample, noise=plan.shadow.noise, gpu_seconds_per_minute=plan.shadow.gpu_seconds_per_minute,
        timeout=plan.shadow.timeout, store_prompts=plan.shadow.store_prompts, model=plan.endpoint.model,
        lengths=plan.endpoint.length_classes, conversation=plan.endpoint.affinity.header.lower(),
        cookie=plan.endpoint.affinity.cookie,
    )  # fmt: skip


def _servers(pool: Pool) -> tuple[Server, ...]:
    return tuple(server(m.name, m.url, pool.price_per_hour / 3600 / m.concurrency) for m in pool.members)


@dataclass(frozen=True)
class Control:
    """What the rollout changes as it goes on (`deploy/rollout/control.py` writes it)."""

    stage: str = "shadow"
    target_share: float = 0.0
    sample: float | None = None
    """The share that is replayed in this stage; None: as the options say."""
    replay: Literal["other", "none"] = "other"
    """Whether requests are replayed on the side that did not answer."""


class ControlFile:
    """The control file, read again when it was replaced; what cannot be read changes nothing and is told once."""

    def __init__(self, path: Path) -> None:
        """Look at `path`, where there may be no file yet."""
        self.control = Control()
        self.trouble = ""
        self._path, self._seen = path, (0, 0, 0)

    def look(self) -> bool:
        """Read the file if it is another one than before; return whether what it says has changed."""
        before = self.control
        try:
            status = self._path.stat()
            seen = (status.st_ino, status.st_mtime_ns, status.st_size)
            if seen != self._seen:
                self._seen = seen
                self.control, self.trouble = _read_control(self._path.read_bytes()), ""
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError) as error:
            self.trouble = str(error)
        return self.control != before


def _read_control(data: bytes) -> Control:
    given = json.loads(data)
    known = {name: given[name] for name in ("stage", "target_share", "sample", "replay") if name in given}
    control = replace(Control(), **{**known, "stage": str(known.get("stage", "shadow"))})
    share, sample = control.target_share, control.sample
    if not 0 <= share <= 1 or not (sample is None or 0 <= sample <= 1):
        raise ValueError("shares are numbers from 0 to 1")
    return control
