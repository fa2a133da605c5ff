"""Endpoints: a server of the test's own, whose log-probabilities are known."""

import json
import math
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from anywarp.cli.main import call

WORDS = ["a", "b", "c", "d"]


def likely(text, tilt):
    """Log-probabilities of the next word: a function of the text's length, moved by `tilt`."""
    scores = [3 * math.sin(1.7 * (len(text) + 1) * (i + 1)) + (tilt if i == 1 else 0) for i in range(len(WORDS))]
    whole = math.log(sum(map(math.exp, scores)))
    return {word: score - whole for word, score in zip(WORDS, scores)}


@pytest.fixture
def server():
    state = {"tilt": 0.0, "echo": True, "answer": None, "key": None, "elsewhere": None, "asked": []}

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):  # where a redirection leads
            state["asked"].append(self.headers["Authorization"])
            self.send_error(404)

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state["asked"].append(self.headers["Authorization"])
            if state["elsewhere"]:
                self.send_response(302)
                self.send_header("Location", state["elsewhere"])
                return self.end_headers()
            if state["key"] and self.headers["Authorization"] != f"Bearer {state['key']}":
                return self.send_error(401, f"not {self.headers['Authorization']}")
            prompt, out, top, chosen = asked["prompt"], [], [], []
            text = ""
            if asked.get("echo"):
                if not state["echo"]:
                    return self.send_error(400)
                for letter in prompt:
                    found = likely(text, state["tilt"])
                    out.append(letter)
                    top.append(found if text else None)
                    chosen.append(found.get(letter) if text else None)
                    text += letter
            text = prompt
            for _ in range(asked["max_tokens"]):
                found = likely(text, state["tilt"])
                best = max(found, key=found.get)
                out.append(best)
                top.append(found)
                chosen.append(found[best])
                text += best
            answer = {
                "choices": [{"text": "", "logprobs": {"tokens": out, "top_logprobs": top, "token_logprobs": chosen}}]
            }
            content = state["answer"] or json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        state["url"] = f"http://127.0.0.1:{http.server_port}/v1"
        yield state
        http.shutdown()
        thread.join()


def recorded(server, tmp_path):
    (tmp_path / "p.jsonl").write_text("".join(json.dumps({"prompt": p}) + "\n" for p in ("abba", "cab", "dada")))
    words = ["--endpoint", server["url"], "--model", "m", "--prompts", str(tmp_path / "p.jsonl"), "--tokens", "24"]
    assert call(["record", "-o", str(tmp_path / "r"), *words]) == 0
    return str(tmp_path / "r")


@pytest.mark.parametrize("echo", [True, False])
def test_the_same_server_passes_and_another_does_not(server, tmp_path, echo, capfd):
    server["echo"] = echo
    path = recorded(server, tmp_path)
    assert call(["verify", path, "--endpoint", server["url"]]) == 0, capfd.readouterr()
    server["tilt"] = 2.5
    assert call(["verify", path, "--endpoint", server["url"]]) == 1, capfd.readouterr()
    assert ("3 of 3 texts" if echo else "0 of 3 texts") in capfd.readouterr().out


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"{}",
        b'{"choices": [{"logprobs": {"tokens": ["a"], "top_logprobs": [], "token_logprobs": []}}]}',
        b"[" * 100_000,
    ],
)
def test_an_answer_that_is_none_is_said(server, tmp_path, answer, capfd):
    path = recorded(server, tmp_path)
    server["answer"] = answer or b" "
    assert call(["verify", path, "--endpoint", server["url"]]) == 2
    assert "V009" in capfd.readouterr().err


def test_prompts_that_are_none_are_said(tmp_path, capfd):
    for content in ("", "[]\n", '{"prompt": 1}\n', "{"):
        (tmp_path / "p").write_text(content)
        words = ["--endpoint", "http://127.0.0.1:9/v1", "--model", "m", "--prompts", str(tmp_path / "p")]
        assert call(["record", "-o", str(tmp_path / "r"), *words]) == 2
        assert "V014" in capfd.readouterr().err


KEY = "sk-" + "n0t-a-real-key" * 3


def asking(server, tmp_path, *more):
    (tmp_path / "p.jsonl").write_text(json.dumps({"prompt": "abba"}) + "\n")
    words = ["--endpoint", server["url"], "--model", "m", "--prompts", str(tmp_path / "p.jsonl"), "--tokens", "4"]
    return call(["record", "--force", "-o", str(tmp_path / "r"), *words, *more])


def test_a_key_is_sent_and_stands_nowhere(server, tmp_path, monkeypatch, capfd):
    server["key"] = KEY
    monkeypatch.setenv("THE_KEY", KEY + "\n")
    monkeypatch.setenv("ANYWARP_RESULTS", str(tmp_path / "results.db"))
    assert asking(server, tmp_path) == 2
    assert "--key-from" in capfd.readouterr().err
    assert asking(server, tmp_path, "--key-from", "THE_KEY") == 0
    assert call(["verify", str(tmp_path / "r"), "--endpoint", server["url"], "--key-from", "THE_KEY"]) == 0
    said = capfd.readouterr()
    left = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(left) > 3 and not any(KEY.encode() in each for each in left) and KEY not in said.out + said.err
    assert server["asked"][-1] == f"Bearer {KEY}"


def test_a_key_that_a_server_says_back_is_not_shown(server, tmp_path, monkeypatch, capfd):
    server["key"] = "another"
    monkeypatch.setenv("THE_KEY", KEY)
    assert asking(server, tmp_path, "--key-from", "THE_KEY") == 2
    said = capfd.readouterr().err
    assert "401 not Bearer ..." in said and KEY not in said


def test_a_key_does_not_follow_to_another_address(server, tmp_path, monkeypatch, capfd):
    """Neither by a redirection nor by a proxy that would read it."""
    monkeypatch.setenv("THE_KEY", KEY)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert asking(server, tmp_path, "--key-from", "THE_KEY") == 0
    seen = len(server["asked"])
    server["elsewhere"] = server["url"] + "/completions?again"
    assert asking(server, tmp_path, "--key-from", "THE_KEY") == 2
    assert "302" in capfd.readouterr().err and len(server["asked"]) == seen + 1


@pytest.mark.parametrize(
    "name, value", [("THE_KEY", None), ("THE_KEY", ""), ("THE_KEY", "two words"), ("THE_KEY", "a\r\nX: y"), (KEY, None)]
)
def test_a_key_that_is_none_is_said_without_showing_it(server, tmp_path, name, value, monkeypatch, capfd):
    if value is not None:
        monkeypatch.setenv(name, value)
    assert asking(server, tmp_path, "--key-from", name) == 2
    said = capfd.readouterr().err
    assert "V044" in said and KEY not in said and "two words" not in said and not server["asked"]
