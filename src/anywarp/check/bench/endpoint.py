"""Load on an endpoint that speaks OpenAI's protocol, offered by AIPerf (Apache-2.0, https://github.com/ai-dynamo/aiperf); its records as results of ours.

AIPerf is started as a program, so that its many packages may live in an environment of their own. Tokens are counted by the server (the
field `usage`), so that no tokenizer is downloaded. Percentiles, goodput and intervals are computed here, from its record of each request.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from anywarp import __version__, settings
from anywarp.check.bench import percentiles, warmup
from anywarp.check.bench.problems import ASKED, ENDPOINT, LOADER, PROMPTS, problem
from anywarp.check.bench.session import status_text, tail
from anywarp.check.bench.single import Step
from anywarp.check.record.keys import Key
from anywarp.check.store import Run
from anywarp.check.store.run import here, key_of

TAGS = {"first_token_s": "time_to_first_token", "between_tokens_s": "inter_token_latency", "whole_s": "request_latency"}
"""Our names for the three times of a request, and AIPerf's (its metrics reference)."""

VARIABLE = "OPENAI_API_KEY"
"""In which AIPerf finds the key, whatever the variable is called that the user has it in."""
LARGEST_PROMPTS, LARGEST_RECORDS = 64 << 20, 1 << 30
WINDOWS = 20
PATIENCE = 3600.0
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0}


@dataclass(frozen=True)
class Load:
    """What is offered: so many requests, at a rate (a second) as a Poisson process or by so many clients, of prompts, for a model."""

    url: str
    model: str
    prompts: tuple[str, ...]
    requests: int
    rate: float = 0.0
    concurrency: int = 0
    max_tokens: int = 128
    limits: Mapping[str, float] | None = None
    """Seconds that no good request exceeds, by our names of the times."""
    secret: Key | None = None
    """The key that the endpoint wants; whose it is makes no other load."""

    def text(self) -> str:
        """Return the load in words."""
        return f"{self.rate:g} requests/s" if self.rate else f"{self.concurrency} clients"

    def digest(self) -> str:
        """Return a digest of the prompts."""
        return hashlib.sha256(json.dumps(self.prompts).encode()).hexdigest()[:32]

    def key(self) -> str:
        """Return the key under which its result is found again."""
        asked = (self.url, self.model, self.requests, self.rate, self.concurrency, self.max_tokens, dict(self.limits or {}))  # fmt: skip
        return key_of(endpoint=asked, prompts=self.digest(), machine=here())


def read_prompts(path: Path) -> tuple[str, ...]:
    """Return the prompts of a file: JSON lines with `text` or `prompt`, else one a line; AnywarpError (V039)."""
    try:
        if path.stat().st_size > LARGEST_PROMPTS:
            raise problem(PROMPTS, f"{path} is larger than {LARGEST_PROMPTS >> 20} MiB")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise problem(PROMPTS, f"the prompts in {path} cannot be read: {error}") from None
    found = tuple(_prompt(line, path, n) if path.suffix == ".jsonl" else line for n, line in enumerate(lines, 1) if line.strip())  # fmt: skip
    if not found:
        raise problem(PROMPTS, f"{path} holds no prompts", "write one a line, or JSON lines with the field text")
    return found


def _prompt(line: str, path: Path, number: int) -> str:
    try:
        value: Any = json.loads(line)
        text = value.get("text", value.get("prompt"))
    except (ValueError, AttributeError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise problem(PROMPTS, f"{path}:{number} has no text", 'each line of a .jsonl is such as {"text": "..."}')
    return text


def measure(load: Load, step: Step) -> Run:
    """Offer a load and return the result; AnywarpError: V037 without AIPerf, V038 where the endpoint does not answer."""
    if urlsplit(load.url).scheme not in ("http", "https") or not urlsplit(load.url).hostname:
        raise problem(ASKED, f"{load.url[:200]!r} is no URL of an endpoint", "give one such as http://127.0.0.1:8000")
    program = _program()
    with tempfile.TemporaryDirectory(prefix="anywarp-load-") as name:
        folder = Path(name)
        prompts = folder / "prompts.jsonl"
        prompts.write_text("".join(json.dumps({"text": each}) + "\n" for each in load.prompts), encoding="utf-8")
        _write_tokenizer(folder / "tokenizer")
        step(f"{load.text()} on {load.url}")
        words = command(program, load, prompts, folder / "artifacts")
        if load.secret is not None:
            words += ["--config", str(_write_config(folder / "load.yaml", load, prompts))]
        _run(words, folder, load.secret)
        records = read_records(folder / "artifacts" / "profile_export.jsonl")
        if load.secret is not None:
            records = [replace(each, failed=load.secret.hide(each.failed)) for each in records]
    result = summarise(records, load)
    alike = {
        "form": "endpoint", "prompts": load.digest(), "max_tokens": load.max_tokens, "load": load.text(), "requests": load.requests
    }  # fmt: skip
    result |= {"form": "endpoint", "alike": alike, "url": load.url, "load": load.text(), "energy": {"joules_per_item": {}, "not_read": {"endpoints": "they are elsewhere"}}}  # fmt: skip
    return Run("bench", result, device=load.url, model=load.model, digest=load.digest(), key=load.key(), versions={"anywarp": __version__})  # fmt: skip


def _write_tokenizer(folder: Path) -> None:
    """Write a tokenizer that splits at spaces: AIPerf wants one to begin with, though the server counts, and would download the model's."""
    folder.mkdir()
    model = {"type": "WordLevel", "vocab": {"[UNK]": 0, "[END]": 1}, "unk_token": "[UNK]"}
    parts: dict[str, Any] = {"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None}  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps({**parts, "model": model}), encoding="utf-8")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "eos_token": "[END]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")


def _write_config(path: Path, load: Load, prompts: Path) -> Path:
    """Write what AIPerf reads beside its options: where it finds the key. An option would show it to everybody who lists processes.

    AIPerf wants a whole configuration before it looks at the options, which say the rest, and decide.
    """
    body = {
        "model": load.model, "endpoint": {"url": load.url, "api_key": f"${{{VARIABLE}}}"},
        "dataset": {"type": "file", "path": str(prompts), "format": "single_turn"},
        "phases": {"type": "concurrency", "concurrency": 1, "requests": load.requests},
    }  # fmt: skip
    path.write_text(json.dumps({"schemaVersion": "2.0", "benchmark": body}), encoding="utf-8")
    return path


def _program() -> str:
    beside = Path(sys.executable).with_name("aiperf")
    found = str(beside) if beside.exists() else shutil.which("aiperf")
    if found is None:
        text = "load is offered by AIPerf, which is not installed"
        raise problem(LOADER, text, "pip install 'anywarp[bench]', or install aiperf in an environment of its own and put it on the path")  # fmt: skip
    return found


def command(program: str, load: Load, prompts: Path, artifacts: Path) -> list[str]:
    """Return the command that offers the load."""
    manner = ["--request-rate", f"{load.rate:g}", "--arrival-pattern", "poisson"] if load.rate else ["--concurrency", str(load.concurrency)]  # fmt: skip
    return [
        program, "profile", "--model", load.model, "--url", load.url, "--endpoint-type", "chat", "--streaming", "--use-server-token-count",
        "--tokenizer", str(prompts.with_name("tokenizer")), "--input-file", str(prompts), "--custom-dataset-type", "single_turn", "--request-count", str(load.requests), *manner,
        "--extra-inputs", f"max_tokens:{load.max_tokens}", "--extra-inputs", "temperature:0", "--random-seed", "0",
        "--artifact-dir", str(artifacts), "--export-level", "records", "--ui", "none", "--no-gpu-telemetry", "--no-server-metrics",
    ]  # fmt: skip


def _run(words: Sequence[str], folder: Path, secret: Key | None) -> None:
    environment = {**settings.environment(), "NO_COLOR": "1", **({VARIABLE: secret.text} if secret is not None else {})}
    said = folder / "said"
    with said.open("wb") as file:
        process = subprocess.Popen(
            words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )  # fmt: skip
        try:
            code = process.wait(PATIENCE)
        except BaseException as stop:
            os.killpg(process.pid, 9)
            process.wait()
            if isinstance(stop, subprocess.TimeoutExpired):
                raise problem(ENDPOINT, f"the load took longer than {PATIENCE:.0f} s", "ask for fewer requests") from None  # fmt: skip
            raise
    if code and not (folder / "artifacts" / "profile_export.jsonl").is_file():
        told = tail(said) if secret is None else secret.hide(tail(said))
        raise problem(ENDPOINT, f"AIPerf ended{status_text(code)}{told}", "is the endpoint there, and the model's name right?")  # fmt: skip


@dataclass(frozen=True)
class Request:
    """One request: when it began and ended (s), its times by our names, the tokens of its answer; or that it failed."""

    begin: float
    end: float
    times: Mapping[str, float]
    tokens: int
    failed: str = ""


def read_records(path: Path) -> list[Request]:
    """Return the requests of AIPerf's profile_export.jsonl that count, in the order in which they began; AnywarpError (V038)."""
    try:
        if path.stat().st_size > LARGEST_RECORDS:
            raise problem(ENDPOINT, "AIPerf's records are too large", "ask for fewer requests")
        with path.open(encoding="utf-8") as file:
            found = [request for line in file if line.strip() and (request := _request(json.loads(line))) is not None]
    except OSError as error:
        raise problem(ENDPOINT, f"AIPerf wrote no records: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise problem(ENDPOINT, f"AIPerf's records are not as expected: {error!r}", "anywarp knows AIPerf 0.13 and 0.14") from None  # fmt: skip
    if not found:
        raise problem(ENDPOINT, "AIPerf recorded no request")
    return sorted(found, key=lambda request: request.begin)


def _request(record: Mapping[str, Any]) -> Request | None:
    about = record["metadata"]
    if str(about.get("benchmark_phase", "profiling")).lower() != "profiling":
        return None
    begin, end = about["request_start_ns"] / 1e9, about["request_end_ns"] / 1e9
    if record.get("error"):
        told = record["error"]
        return Request(begin, end, {}, 0, str(told.get("message") or told.get("type") or told)[:300])
    metrics = record["metrics"]
    times = {ours: _seconds(metrics[theirs]) for ours, theirs in TAGS.items() if theirs in metrics}
    counted = metrics.get("output_sequence_length") or metrics.get("usage_completion_tokens")
    return Request(begin, end, times, int(counted["value"]) if counted else 0)


def _seconds(metric: Mapping[str, Any]) -> float:
    return float(metric["value"]) * _SECONDS[str(metric["unit"]).split("/")[0]]


def summarise(requests: Sequence[Request], load: Load) -> dict[str, Any]:
    """Return the result of these requests: times with intervals, tokens a second, goodput at the limits, errors, marks."""
    good = [each for each in requests if not each.failed]
    if not good:
        raise problem(ENDPOINT, f"all {len(requests)} requests failed: {requests[0].failed}", "try the endpoint with one request")  # fmt: skip
    start, marks = _steady(good)
    counted = good[start:]
    lists = {name: [each.times[name] for each in counted if name in each.times] for name in TAGS}
    service = {
        name: {f"p{p:g}": percentiles.percentile(values, p).as_json() for p in percentiles.PERCENTILES}
        for name, values in lists.items()
        if values
    }
    failed = len(requests) - len(good)
    if failed:
        texts = [each.failed for each in requests if each.failed]
        most = max(set(texts), key=texts.count)
        marks.append(f"{failed} of {len(requests)} requests failed, most often: {most}")
    for name in sorted(load.limits or {}):
        if lacking := sum(name not in each.times for each in counted):
            marks.append(f"{lacking} requests have no {TAGS[name].replace('_', ' ')}: they count as not good")
    if not any(each.tokens for each in counted):
        marks.append("the server does not count tokens (no `usage` in its answers)")
    since = counted[0].begin
    return {
        "service": service, "requests": {n: [float(f"{x:.6g}") for x in v] for n, v in lists.items()},
        "tokens_per_s": token_rate(counted).as_json(), "requests_sent": len(requests), "errors": failed, "warm_up_requests": start,
        "goodput": _goodput([each for each in requests if each.begin >= since], load.limits or {}),
        "tokens_out": sum(each.tokens for each in counted), "marks": marks,
    }  # fmt: skip


def _steady(requests: Sequence[Request]) -> tuple[int, list[str]]:
    """Return from which request on the times are steady, and what must be known."""
    times = [each.times.get("whole_s", each.end - each.begin) for each in requests]
    if len(times) < 2 * warmup.SHORTEST or min(times) <= 0:
        return 0, [f"only {len(times)} requests: whether they are steady cannot be told"]
    found = warmup.find(times)
    if found.kind == "not steady":
        return 0, ["no steady state was found: all requests count, and intervals mean little"]
    if found.kind == "slowdown":
        return 0, ["answers took longer and longer: more is offered than can be served, or the server slowed down"]
    return found.start, []


def token_rate(requests: Sequence[Request]) -> percentiles.Interval:
    """Return tokens a second with their interval: over windows of the time in which requests ran, each's tokens spread from its first to its last."""
    begin, end = requests[0].begin, max(each.end for each in requests)
    width = (end - begin) / WINDOWS
    tokens = [0.0] * WINDOWS
    for each in requests:
        first = min(each.begin + each.times.get("first_token_s", 0.0), each.end)
        if each.end - first < 1e-9:
            tokens[min(WINDOWS - 1, int((each.end - begin) / width))] += each.tokens
            continue
        for n in range(max(0, math.floor((first - begin) / width)), min(WINDOWS - 1, math.floor((each.end - begin) / width)) + 1):  # fmt: skip
            inside = min(each.end, begin + (n + 1) * width) - max(first, begin + n * width)
            tokens[n] += each.tokens * max(0.0, inside) / (each.end - first)
    whole = sum(each.tokens for each in requests) / (end - begin)
    # The first and the last windows have no full load; the interval is of those between, around what the whole time gave.
    spread = percentiles.mean([count / width for count in tokens[1:-1]])
    if spread.low is None or spread.high is None:
        return percentiles.Interval(whole, None, None)
    half = (spread.high - spread.low) / 2
    return percentiles.Interval(whole, max(0.0, whole - half), whole + half)


def _goodput(requests: Sequence[Request], limits: Mapping[str, float]) -> dict[str, Any]:
    """Return how many requests a second, and which share of them, exceed no limit; a failed one is not good, nor one without a time that is limited."""
    good = [r for r in requests if not r.failed and all(r.times.get(name, math.inf) <= most for name, most in limits.items())]  # fmt: skip
    span = max(each.end for each in requests) - requests[0].begin
    return {"limits": dict(limits), "share": percentiles.share(len(good), len(requests)).as_json(), "per_second": len(good) / span}  # fmt: skip


def read_limits(texts: Sequence[str]) -> dict[str, float]:
    """Return limits such as `first-token<=500ms` in seconds by our names; AnywarpError (V036)."""
    found: dict[str, float] = {}
    for text in texts:
        name, _, value = text.partition("<=")
        ours = f"{name.strip().replace('-', '_')}_s"
        unit = next((u for u in ("us", "ms", "s") if value.endswith(u)), "")
        try:
            number = float(value.removesuffix(unit))
        except ValueError:
            number = -1.0
        if ours not in TAGS or not unit or not 0 < number < 1e9:
            raise problem(ASKED, f"{text[:80]!r} is no limit", "limits are such as first-token<=500ms, between-tokens<=50ms, whole<=10s")  # fmt: skip
        found[ours] = number * _SECONDS[unit]
    return found
