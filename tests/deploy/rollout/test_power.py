"""The gate of energy per token, from the query to the way back: against a small server that answers like Prometheus, and against Prometheus."""

import json
import random
import shutil
import socketserver
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler

import pytest

from anywarp.deploy.rollout.engine import Engine, run
from anywarp.deploy.rollout.observations import _COLUMNS, _INSERT, Observation
from anywarp.deploy.rollout.power import watts
from anywarp.deploy.rollout.state import State

from .plans import text
from .servers import free_port, serving
from .test_engine import Clock, Recorder, everybody_well

QUERY = 'sum(gpu_power_watts{pool="target"})'
STAGES = "stages: [{share: 50 %, at_least: 1s, at_most: 3m}]"


def prometheus(answers):
    """A handler that answers queries with what `answers()` gives, and a scrape of its metrics with 300 watts."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = answers()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):
            pass

    return Answers


def vector(*values):
    rows = [{"metric": {"gpu": str(n)}, "value": [1700000000.1, value]} for n, value in enumerate(values)]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": rows}}).encode()


@pytest.mark.parametrize(
    "status, body, wanted",
    [
        (200, vector("100.5", "199.5"), 300.0),
        (200, b'{"status":"success","data":{"resultType":"scalar","result":[1700000000.1,"250"]}}', 250.0),
        (200, vector(), None),
        (200, vector("NaN"), None),
        (200, vector("+Inf"), None),
        (200, vector("-5"), None),
        (200, b"<html>no</html>", None),
        (200, b'{"status":"success","data":{"resultType":"vector","result":{"a":1}}}', None),
        (400, b'{"status":"error","errorType":"bad_data","error":"parse error"}', None),
        (200, b"[" * 100000, None),
        (200, b'"' + b"x" * (2 << 20) + b'"', None),
    ],
)
def test_only_a_power_is_taken_for_one(status, body, wanted):
    with serving(prometheus(lambda: (status, body))) as port:
        assert watts(f"http://127.0.0.1:{port}/", "up") == wanted


def test_what_is_no_http_is_no_power():
    class Garbage(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(1000)
            self.request.sendall(b"no HTTP at all\r\n\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Garbage) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        assert watts(f"http://127.0.0.1:{server.server_address[1]}", "up") is None


def test_nobody_at_the_address_is_no_power():
    assert watts(f"http://127.0.0.1:{free_port()}", "up") is None


def rollout(tmp_path, monkeypatch, address, limit):
    """Run a rollout of one stage, with ten answers of the target in each interval of two seconds; return its row and events."""
    monkeypatch.setenv("ANYWARP_ROLLOUTS", str(tmp_path))
    gate = f"  - {{kind: power, url: '{address}', query: '{QUERY}', joules_per_token_at_most: {limit}}}"
    whole = text(gates=gate)
    begin, end = whole.index("stages:"), whole.index("gates:")
    from anywarp.deploy.rollout import plan_file

    made = plan_file.parse(whole[:begin] + STAGES + "\n" + whole[end:], "p.yaml").plan
    state, clock, rng = State(made), Clock(), random.Random(4)
    assert state.acquire("test")
    state.begin(made, "text", "digest", "test")

    def sleep(seconds):
        rows = [
            Observation(made.name, "50 %", "target", str(rng.random()), member="b", status=200, total_ms=1.0, tokens_in=100, tokens_out=rng.randint(20, 80))
            for _ in range(10)
        ]  # fmt: skip
        state.observations.executemany(_INSERT, [tuple(getattr(row, name) for name in _COLUMNS) for row in rows])
        clock.sleep(seconds)

    engine = Engine(made, state, Recorder(), health=everybody_well, clock=clock)
    try:
        return run(engine, sleep), state.events()
    finally:
        state.close()


@pytest.mark.parametrize("limit, phase", [(0.6, "done"), (0.3, "reverted")])
def test_energy_decides_a_stage(tmp_path, monkeypatch, limit, phase):
    """600 joules and about 1500 tokens in an interval: 0.4 joules a token."""
    with serving(prometheus(lambda: (200, vector("180", "120")))) as port:
        row, events = rollout(tmp_path, monkeypatch, f"http://127.0.0.1:{port}", limit)
    assert row.phase == phase
    (decided,) = [e for e in events if e.kind in ("done", "failed")]
    (verdict,) = decided.evidence["verdicts"]
    assert verdict["name"] == "energy per token" and verdict["target"] >= 30
    assert verdict["lower"] < 600 / 1500 < verdict["upper"]
    if phase == "reverted":
        assert decided.evidence["cause"]["in words"] == "the target's tokens take more energy"


def test_power_that_cannot_be_had_is_undecided(tmp_path, monkeypatch):
    with serving(prometheus(lambda: (503, b"starting"))) as port:
        row, events = rollout(tmp_path, monkeypatch, f"http://127.0.0.1:{port}", 0.6)
    assert row.phase == "asking" and "undecided" in row.reason


@pytest.mark.promtool
def test_prometheus_itself_is_asked(tmp_path, monkeypatch):
    """Prometheus scrapes a pool's power, and a rollout stops by what it answers."""
    binary = shutil.which("prometheus")
    if binary is None:
        pytest.skip("prometheus is not installed")
    metrics = b'gpu_power_watts{pool="target",gpu="0"} 180\ngpu_power_watts{pool="target",gpu="1"} 120\ngpu_power_watts{pool="source"} 700\n'
    with serving(prometheus(lambda: (200, metrics))) as scraped:
        port, folder = free_port(), tmp_path / "prometheus"
        folder.mkdir()
        (folder / "p.yml").write_text(
            f"scrape_configs: [{{job_name: g, scrape_interval: 1s, static_configs: [{{targets: ['127.0.0.1:{scraped}']}}]}}]"
        )
        command = [binary, f"--config.file={folder}/p.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            address, end = f"http://127.0.0.1:{port}", time.monotonic() + 60
            while watts(address, QUERY) is None and time.monotonic() < end:
                time.sleep(0.1)
            assert watts(address, QUERY) == 300.0
            row, events = rollout(tmp_path, monkeypatch, address, 0.3)
        finally:
            process.kill()
            process.wait()
    assert row.phase == "reverted" and any("energy per token" in e.words for e in events)
