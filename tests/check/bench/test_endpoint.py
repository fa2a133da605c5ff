"""Load on endpoints: AIPerf's records read and added up by hand-made ones, what is refused, and AIPerf itself against a server made here."""

import http.server
import json
import shutil
import stat
import threading
import time
from pathlib import Path

import pytest

from anywarp.check.bench import endpoint
from anywarp.check.bench.endpoint import Load, Request
from anywarp.check.record.keys import Key
from anywarp.cli.main import call
from anywarp.diagnostics import AnywarpError


def record(begin, whole=1.0, first=0.2, between=0.01, tokens=80, phase="profiling", error=None):
    """A line as AIPerf 0.13 writes it (its guide to profile export files)."""
    metrics = {
        "request_latency": {"value": whole * 1e3, "unit": "ms"}, "time_to_first_token": {"value": first * 1e3, "unit": "ms"},
        "inter_token_latency": {"value": between * 1e3, "unit": "ms"}, "output_sequence_length": {"value": tokens, "unit": "tokens"},
    }  # fmt: skip
    about = {"session_num": 0, "request_start_ns": int(begin * 1e9), "request_end_ns": int((begin + whole) * 1e9), "benchmark_phase": phase}  # fmt: skip
    return json.dumps({"metadata": about, "metrics": {} if error else metrics, "error": error}) + "\n"


def load(**changed):
    return Load("http://127.0.0.1:1", "m", **{"prompts": ("hello",), "requests": 10, "concurrency": 1, **changed})


def code_of(action, *arguments):
    with pytest.raises(AnywarpError) as caught:
        action(*arguments)
    return caught.value.diagnostic


def test_records_are_read_in_the_order_of_their_beginning(tmp_path):
    failed = record(3, error={"code": 500, "type": "HTTPError", "message": "overloaded"})
    path = tmp_path / "profile_export.jsonl"
    path.write_text(record(2) + record(0, phase="warmup") + failed + record(1, whole=2.0))
    found = endpoint.read_records(path)
    assert [each.begin for each in found] == [1, 2, 3]
    assert found[0] == Request(1, 3, {"first_token_s": 0.2, "between_tokens_s": 0.01, "whole_s": 2.0}, 80)
    assert found[2].failed == "overloaded" and not found[0].failed


@pytest.mark.parametrize("text", ["", "{", "[]\n", '{"metadata": {}}\n', '{"metadata": {"request_start_ns": "x", "request_end_ns": 1}}\n'])  # fmt: skip
def test_records_that_are_none_are_refused(tmp_path, text):
    (tmp_path / "r").write_text(text)
    assert code_of(endpoint.read_records, tmp_path / "r").code == "V038"
    assert code_of(endpoint.read_records, tmp_path / "none").code == "V038"


def requests(count=100, **changed):
    values = {"first_token_s": 0.2, "between_tokens_s": 0.01, "whole_s": 1.0}
    return [Request(float(n), n + 1.0, {**values, **changed}, 80) for n in range(count)]


def test_tokens_a_second_are_all_tokens_over_all_time():
    found = endpoint.token_rate(requests())
    assert found.value == pytest.approx(80) and found.low == pytest.approx(80, rel=0.02)
    uneven = [Request(float(n), n + 1.0, {"first_token_s": 0.0}, 40 if n % 2 else 120) for n in range(400)]
    assert endpoint.token_rate(uneven).value == pytest.approx(80)
    assert endpoint.token_rate([Request(0, 2, {"first_token_s": 2.0}, 10)]).value == pytest.approx(5)


def test_goodput_counts_what_keeps_every_limit_and_failures_as_bad():
    several = requests(97)
    several[3] = Request(3, 4, {**several[3].times, "first_token_s": 0.6}, 80)
    several += [Request(97.0 + n, 98.0 + n, {}, 0, "refused") for n in range(3)]
    limits = endpoint.read_limits(["first-token<=500ms", "whole<=1s"])
    assert limits == {"first_token_s": 0.5, "whole_s": 1.0}
    found = endpoint.summarise(several, load(limits=limits))
    assert found["goodput"]["share"]["value"] == 0.96 and found["goodput"]["per_second"] == pytest.approx(0.96)
    assert found["errors"] == 3 and found["requests_sent"] == 100
    assert any("3 of 100 requests failed, most often: refused" in mark for mark in found["marks"])
    assert found["service"]["first_token_s"]["p50"] == {"value": 0.2, "low": 0.2, "high": 0.2}


def test_a_request_whose_limited_time_is_unknown_is_not_good():
    several = requests(100)
    several[50] = Request(50, 51, {"whole_s": 1.0}, 80)
    found = endpoint.summarise(several, load(limits={"first_token_s": 0.5}))
    assert found["goodput"]["share"]["value"] == 0.99
    assert any("1 requests have no time to first token" in mark for mark in found["marks"])


def test_a_queue_that_grows_is_told():
    growing = [Request(float(n), 2.0 * n + 1, {"whole_s": n + 1.0}, 80) for n in range(200)]
    assert endpoint.summarise(growing, load())["marks"]


def test_a_slow_beginning_is_left_out():
    slow = [Request(float(n), n + 5.0, {"whole_s": 5.0, "first_token_s": 4.0}, 80) for n in range(20)]
    even = [Request(20.0 + n, 21.0 + n, {"whole_s": 1.0 + 0.001 * (n % 7), "first_token_s": 0.2}, 80) for n in range(180)]  # fmt: skip
    found = endpoint.summarise(slow + even, load())
    assert found["warm_up_requests"] == 20 and found["service"]["whole_s"]["p99"]["value"] < 1.1


def test_prompts_are_lines_or_json_lines(tmp_path):
    (tmp_path / "p.txt").write_text("one\n\ntwo\n")
    (tmp_path / "p.jsonl").write_text('{"text": "one"}\n{"prompt": "two"}\n')
    one, two = endpoint.read_prompts(tmp_path / "p.txt"), endpoint.read_prompts(tmp_path / "p.jsonl")
    assert one == two == ("one", "two") and load(prompts=one).digest() == load(prompts=two).digest()
    for name, text in (("q.jsonl", "{}"), ("q.txt", "\n"), ("r.jsonl", "not json")):
        (tmp_path / name).write_text(text)
        assert code_of(endpoint.read_prompts, tmp_path / name).code == "V039"


@pytest.mark.parametrize("text", ["first-token<=500", "last-token<=1s", "whole<=-1s", "whole<=nans", "whole=1s"])
def test_limits_that_are_none_are_refused(text):
    assert code_of(endpoint.read_limits, [text]).code == "V036"


def test_without_aiperf_it_is_said_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    found = code_of(endpoint.measure, load(), print)
    assert found.code == "V037" and "anywarp[bench]" in found.help


KEY = "sk-" + "n0t-a-real-key" * 3
FAKE = """#!/usr/bin/env python3
import json, os, pathlib, sys
words = sys.argv
config = pathlib.Path(words[words.index("--config") + 1]).read_text() if "--config" in words else None
pathlib.Path(__file__).with_name("asked").write_text(json.dumps([words, config, os.environ.get("OPENAI_API_KEY")]))
place = pathlib.Path(words[words.index("--artifact-dir") + 1])
prompts = pathlib.Path(words[words.index("--input-file") + 1]).read_text()
assert '"text": "hi"' in prompts and "--use-server-token-count" in words
if "refuse" in words:
    sys.exit("cannot connect to host with " + os.environ.get("OPENAI_API_KEY", "nothing"))
place.mkdir()
(place / "profile_export.jsonl").write_text(pathlib.Path(__file__).with_name("records").read_text())
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    tool = tmp_path / "bin" / "aiperf"
    tool.parent.mkdir()
    tool.write_text(FAKE)
    tool.chmod(stat.S_IRWXU)
    (tool.parent / "records").write_text("".join(record(n) for n in range(60)))
    monkeypatch.setenv("PATH", f"{tool.parent}:{Path(shutil.which('python3')).parent}:/usr/bin:/bin")
    monkeypatch.setattr("sys.executable", str(tmp_path / "nowhere" / "python"))
    monkeypatch.setenv("ANYWARP_RESULTS", str(tmp_path / "r.sqlite"))
    (tmp_path / "p.txt").write_text("hi\n")
    monkeypatch.chdir(tmp_path)


def test_the_command_offers_each_load_once(fake, capsys):
    arguments = ["bench", "--endpoint", "http://127.0.0.1:1", "--served-model", "m", "--prompts", "p.txt", "--good", "whole<=2s"]  # fmt: skip
    assert call([*arguments, "--rate", "1,2.5", "--concurrency", "4", "--format", "json", "--html", "l.html"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [run["result"]["load"] for run in found] == ["1 requests/s", "2.5 requests/s", "4 clients"]
    assert found[0]["result"]["tokens_per_s"]["value"] == pytest.approx(80)
    assert call([*arguments, "--rate", "1"]) == 0
    shown = capsys.readouterr().out
    assert "100.0%" in shown and "measured earlier" in shown and "200 / 200" in shown
    assert "first token" in Path("l.html").read_text()


def test_an_endpoint_that_is_not_there_is_told_with_the_generators_words(fake, capsys):
    assert call(["bench", "--endpoint", "http://127.0.0.1:1", "--served-model", "refuse", "--prompts", "p.txt"]) == 2
    err = capsys.readouterr().err
    assert "V038" in err and "cannot connect to host" in err
    assert call(["bench", "--endpoint", "file:///etc", "--served-model", "m", "--prompts", "p.txt"]) == 2
    assert "is no URL" in capsys.readouterr().err


ENDPOINT = [
    "bench",
    "--endpoint",
    "http://127.0.0.1:1",
    "--prompts",
    "p.txt",
    "--key-from",
    "THE_KEY",
    "--served-model",
]


def test_a_key_reaches_the_generator_by_its_environment_and_stands_nowhere(fake, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("THE_KEY", f"{KEY}\n")
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    with (tmp_path / "bin" / "records").open("a") as file:
        file.write(record(60, error={"code": 401, "message": f"who is {KEY}?"}))
    assert call([*ENDPOINT, "m", "-o", "r.json", "--html", "r.html"]) == 1
    words, config, given = json.loads((tmp_path / "bin" / "asked").read_text())
    assert given == KEY and KEY not in " ".join(words) and KEY not in config
    assert json.loads(config)["benchmark"]["endpoint"]["api_key"] == "${OPENAI_API_KEY}"
    shown = capfd.readouterr()
    assert "who is ...?" in shown.out and KEY not in shown.out + shown.err
    kept = [path for path in tmp_path.rglob("*") if path.is_file() and path.parent.name != "bin"]
    assert {"r.json", "r.html", "r.sqlite"} <= {path.name for path in kept}
    assert not [path for path in kept if KEY.encode() in path.read_bytes()]


def test_a_key_that_the_generator_says_is_not_shown(fake, monkeypatch, capfd):
    monkeypatch.setenv("THE_KEY", KEY)
    assert call([*ENDPOINT, "refuse"]) == 2
    err = capfd.readouterr().err
    assert "cannot connect to host with ..." in err and KEY not in err


def test_without_a_key_the_generator_is_given_none(fake, tmp_path, monkeypatch, capfd):
    monkeypatch.delenv("THE_KEY", raising=False)
    assert call([*ENDPOINT, "m"]) == 2 and "V044" in capfd.readouterr().err
    assert call(["bench", "--key-from", "THE_KEY", "--", "true"]) == 2
    assert "--key-from is the key of an --endpoint" in capfd.readouterr().err
    assert not (tmp_path / "bin" / "asked").exists()
    assert call([each for each in [*ENDPOINT, "m"] if each not in ("--key-from", "THE_KEY")]) == 0
    assert json.loads((tmp_path / "bin" / "asked").read_text())[1] is None


class Server(http.server.BaseHTTPRequestHandler):
    """Answers as OpenAI's protocol streams: a token every 5 ms after 30 ms, then how many there were."""

    protocol_version = "HTTP/1.1"
    key = ""

    def do_GET(self):
        self._send(json.dumps({"object": "list", "data": [{"id": "tiny", "object": "model"}]}).encode(), "application/json")  # fmt: skip

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.key and self.headers["Authorization"] != f"Bearer {self.key}":
            self.send_error(401)
            return
        count = min(10, int(asked.get("max_tokens") or asked.get("max_completion_tokens") or 10))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        time.sleep(0.03)
        for _ in range(count):
            self._event({"choices": [{"index": 0, "delta": {"content": "word "}}]})
            time.sleep(0.005)
        usage = {"prompt_tokens": 3, "completion_tokens": count, "total_tokens": 3 + count}
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self._event({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, part):
        content = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "tiny", **part}
        self.wfile.write(f"data: {json.dumps(content)}\n\n".encode())
        self.wfile.flush()

    def _send(self, content, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("aiperf") is None, reason="aiperf is not on the path")
@pytest.mark.parametrize("key", ["", KEY])
def test_aiperf_measures_what_the_server_does(tmp_path, monkeypatch, key):
    monkeypatch.setattr(Server, "key", key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        asked = Load(f"http://127.0.0.1:{server.server_address[1]}", "tiny", ("one", "two"), 40, concurrency=2, max_tokens=10, secret=Key(key) if key else None)  # fmt: skip
        run = endpoint.measure(asked, print)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    service = run.result["service"]
    assert run.result["errors"] == 0 and run.result["tokens_out"] == 10 * (40 - run.result["warm_up_requests"])
    assert 0.03 <= service["first_token_s"]["p50"]["value"] < 0.3
    assert 0.005 <= service["between_tokens_s"]["p50"]["value"] < 0.1
    assert service["whole_s"]["p50"]["value"] >= 0.03 + 9 * 0.005
