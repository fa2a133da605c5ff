"""The proxy as a user runs it: callers are answered from the source whatever the target does, and observations say what it did."""

import asyncio
import contextlib
import json
import os
import signal
import ssl
import sys
from contextlib import closing

import pytest

from anywarp.cli.main import call
from anywarp.deploy.rollout.control import write_control
from anywarp.deploy.rollout.observations import open_database, read, read_counts
from anywarp.deploy.rollout.traffic import Traffic
from anywarp.deploy.shadow import serve as serve_module
from anywarp.deploy.shadow.options import Options, server
from anywarp.deploy.webhook import certificates
from deploy.shadow.engine import FAULTS, Engine, engines
from deploy.shadow.proxy import raw_server, until


def run(test):
    async def bounded():
        await asyncio.wait_for(test(), 60)

    asyncio.run(bounded())


@contextlib.asynccontextmanager
async def shadow(folder, source, target, *more):
    """Run `anywarp shadow`; yields its port and its process."""
    command = [sys.executable, "-m", "anywarp", "shadow", "--folder", str(folder), "--listen", "127.0.0.1:0", "--sample", "1", "--noise", "0"]  # fmt: skip
    command += [
        "--source",
        f"http://127.0.0.1:{source}",
        "--target",
        f"http://127.0.0.1:{target}",
        "--grace",
        "5",
        *more,
    ]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), 20)).decode()
        assert "callers are taken at 127.0.0.1:" in line, line + (await process.stderr.read()).decode()
        yield int(line.split(";")[0].rpartition(":")[2]), process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await process.communicate()


async def ask(port, body, path="/v1/completions", headers=""):
    """Post one request over a connection of its own and return the answer's bytes."""
    data = json.dumps(body).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {len(data)}\r\n\r\n".encode() + data)
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
    if b"chunked" in head:
        rest = await reader.readuntil(b"\r\n0\r\n\r\n")
    else:
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        rest = await reader.readexactly(length)
    writer.close()
    return head + rest


PROMPT = {"prompt": "once upon a", "max_tokens": 5, "temperature": 0}


async def observed(folder, count, wait=15):
    """Return the observations, as soon as there are so many of shadows."""
    database = open_database(folder / "rollout.sqlite")

    def shadows():
        return [row for _, row in read(database, "shadow") if row.side == "shadow"]

    try:
        await until(lambda: len(shadows()) >= count, wait)
        return shadows(), [row for _, row in read(database, "shadow") if row.side != "shadow"]
    finally:
        database.close()


def counts(folder):
    database = open_database(folder / "rollout.sqlite")
    try:
        return read_counts(database, "shadow")
    finally:
        database.close()


@pytest.mark.parametrize("scores", ["vllm", "echo", "none"])
def test_answers_of_both_pools_are_compared(tmp_path, scores):
    async def test():
        source, target = Engine(scores=scores), Engine(scores=scores)
        async with engines(source, target) as (a, b), shadow(tmp_path, a, b) as (port, _):
            direct = await ask(a, PROMPT)
            for body in (PROMPT, {**PROMPT, "stream": True}, {**PROMPT, "prompt": "a longer one than that"}):
                assert await ask(port, body) == await ask(a, body)
            assert await ask(port, {"messages": [{"role": "user", "content": "hello you"}], "temperature": 0}, "/v1/chat/completions")  # fmt: skip
            assert direct.endswith(b"}")
            shadows, callers = await observed(tmp_path, 4)
        assert [row.side for row in callers] == ["source"] * 4
        for row in shadows:
            assert (row.status, row.error, row.divergence, row.member) == (200, None, None, "target-1")
            assert row.total_ms > 0 and row.first_ms > 0 and row.tokens_out == 5 and row.prompt is None
            forced = scores == "vllm" or (scores == "echo" and row.route == "/v1/completions")
            assert row.comparison == ("teacher-forced" if forced else "divergence")
            if forced:
                assert (row.compared, row.agree, row.kl) == (5, 1, pytest.approx(0, abs=1e-6))
        assert {row.exchange for row in shadows} == {row.exchange for row in callers}
        assert all(row.tokens_in and row.tokens_out == 5 and row.digest for row in callers)
        marked = [headers for headers, _ in target.seen]
        assert marked and all(headers["x-anywarp-shadow"] == "shadow" for headers in marked)
        assert sum("x-anywarp-shadow" not in headers for headers, _ in source.seen) == 8

    run(test)
    assert counts(tmp_path)["replayed"] == 4


@pytest.mark.parametrize(("fault", "place"), [("flip", 2), ("decode", 1)])
def test_a_target_that_differs_is_found(tmp_path, fault, place):
    """`flip`: other scores and another third token; `decode`: right scores, and a token that does not follow from them."""

    async def test():
        async with engines(Engine(), Engine(fault)) as (a, b), shadow(tmp_path, a, b) as (port, _):
            for _ in range(3):
                assert await ask(port, PROMPT) == await ask(a, PROMPT)
            shadows, _ = await observed(tmp_path, 3)
        for row in shadows:
            assert row.divergence == place and row.margin == pytest.approx(3.0, abs=0.01)
            assert (row.kl > 0.5 and row.agree < 0.9) if fault == "flip" else (row.kl < 1e-6 and row.agree == 1)

    run(test)


EXPECTED = {
    "stall": "stalled", "silence": "timeout", "endless": "too long", "hang up": "broken", "half": "broken", "html": "wrong content",
    "deep": "wrong content", "garbage": "wrong content", "header": "wrong content", "error": None, "elsewhere": None, "packed": "wrong content",
}  # fmt: skip


def test_nothing_that_a_target_does_reaches_a_caller(tmp_path):
    """Every way in which a target can go wrong, one request each, whole and as a stream."""

    async def test():
        async with engines(Engine(), Engine("as asked")) as (a, b), proxied(tmp_path, a, b) as (port, _):
            for fault in FAULTS:
                for more in ({"user": fault}, {"user": fault, "stream": True}):
                    assert await ask(port, {**PROMPT, **more}) == await ask(a, {**PROMPT, **more})
            shadows, callers = await observed_as(tmp_path, "rehearsal", 2 * len(FAULTS), 30)
        assert len(callers) == 2 * len(FAULTS) and all(row.error is None and row.status == 200 for row in callers)
        for row in shadows:
            expected = EXPECTED[json.loads(row.prompt)["user"]]
            assert row.comparison == "none" and (row.error or "none").startswith(expected or "none"), row
            assert expected or row.status in (302, 500)

    run(test)


def plan_file(folder, source, target):
    plan = folder / "plan.yaml"
    plan.write_text(f"""
version: 1
name: rehearsal
endpoint: {{requests_per_second: 10, listen: "127.0.0.1:8080"}}
source: {{name: old, members: [{{name: s, url: "http://127.0.0.1:{source}", capacity: 10}}], price_per_hour: 3.6}}
target: {{name: new, members: [{{name: t, url: "http://127.0.0.1:{target}", capacity: 10}}], price_per_hour: 1.8}}
shadow: {{sample: 100 %, timeout: 2s, noise: 0, store_prompts: true, gpu_seconds_per_minute: 1000}}
stages: [shadow]
gates: [{{kind: errors, more_at_most: 1 %}}]
driver: {{kind: proxy}}
""")
    return plan


@contextlib.asynccontextmanager
async def shadow_of_plan(folder, plan, *more):
    command = [sys.executable, "-m", "anywarp", "shadow", str(plan), "--folder", str(folder), "--listen", "127.0.0.1:0", "--grace", "3", *more]  # fmt: skip
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), 20)).decode()
        assert "callers are taken" in line, line + (await process.stderr.read()).decode()
        yield int(line.split(";")[0].rpartition(":")[2]), process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        await process.communicate()


def proxied(folder, source, target):
    return shadow_of_plan(folder, plan_file(folder, source, target))


async def observed_as(folder, rollout, count, wait=15):
    database = open_database(folder / "rollout.sqlite")

    def rows():
        return [row for _, row in read(database, rollout)]

    try:
        await until(lambda: sum(row.side == "shadow" for row in rows()) >= count, wait)
        return [r for r in rows() if r.side == "shadow"], [r for r in rows() if r.side != "shadow"]
    finally:
        database.close()


def test_a_dead_target_is_refused_and_costs_and_prompts_are_kept_as_the_plan_says(tmp_path):
    async def test():
        async with engines(Engine(pause=0.1), Engine(pause=0.05)) as (a, b):
            async with shadow_of_plan(tmp_path, plan_file(tmp_path, a, 1)) as (port, _):
                assert await ask(port, PROMPT) == await ask(a, PROMPT)
                (row,), (caller,) = await observed_as(tmp_path, "rehearsal", 1)
                assert row.error.startswith("refused") and row.status is None
                assert json.loads(row.prompt) == PROMPT == json.loads(caller.prompt)
                assert caller.cost == pytest.approx(caller.total_ms / 1000 * 3.6 / 3600 / 64) and caller.total_ms > 100
            async with shadow_of_plan(tmp_path, plan_file(tmp_path, a, b)) as (port, _):
                assert await ask(port, PROMPT) == await ask(a, PROMPT)
                (_, row), _ = await observed_as(tmp_path, "rehearsal", 2)
                assert row.cost == pytest.approx(row.total_ms / 1000 * 1.8 / 3600 / 64) and 50 < row.total_ms < 5000

    run(test)


def test_requests_that_must_not_be_repeated_are_not_and_are_counted(tmp_path):
    async def test():
        source, target = Engine(), Engine()
        async with engines(source, target) as (a, b), shadow(tmp_path, a, b) as (port, _):
            for more in ({"n": 2}, {"tools": [{}]}, {"temperature": 1}, {"store": True}):
                await ask(port, {**PROMPT, **more})
            await ask(port, {"messages": [{"role": "user", "content": "x"}], "temperature": 0}, "/v1/other")
            await ask(port, PROMPT)
            await observed(tmp_path, 1)
            assert len({json.dumps(body) for _, body in target.seen if "prompt_logprobs" not in body}) == 1

    run(test)
    seen = counts(tmp_path)
    for why in ("several answers", "tools", "chance without a seed", "stored by the server", "another interface"):
        assert seen[f"not comparable: {why}"] == 1
    assert seen["seen"] == seen["sampled"] == 6


def test_the_budget_bounds_what_replays_take(tmp_path):
    async def test():
        source, target = Engine(), Engine(pause=0.3)
        more = ("--gpu-seconds-per-minute", "1")
        async with engines(source, target) as (a, b), shadow(tmp_path, a, b, *more) as (port, _):
            for _ in range(20):
                await ask(port, PROMPT)
            await until(lambda: counts(tmp_path).get("dropped: budget", 0) > 0, 15)
            await asyncio.sleep(0.5)
        assert len(target.seen) <= 14  # four at once may overrun it, by two requests each

    run(test)
    assert counts(tmp_path)["dropped: budget"] >= 10


def test_the_stage_and_shares_change_while_it_runs(tmp_path):
    async def test():
        source, target = Engine(), Engine()
        async with engines(source, target) as (a, b), shadow(tmp_path, a, b) as (port, _):
            await ask(port, PROMPT)
            write_control(tmp_path, Traffic("100 %", 1.0))
            await asyncio.sleep(0.4)  # two looks at the file
            (tmp_path / "control.json").write_text("{ not JSON")
            await asyncio.sleep(0.4)
            for _ in range(3):
                await ask(port, PROMPT)
            write_control(tmp_path, Traffic("back", 0.0, compare=1.0))
            await asyncio.sleep(0.4)
            await ask(port, PROMPT)
            _, callers = await observed(tmp_path, 2)
        assert [(r.stage, r.side) for r in callers] == [
            ("shadow", "source"),
            *[("100 %", "target")] * 3,
            ("back", "source"),
        ]

    run(test)


def children(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        return [int(word) for word in file.read().split()]


def test_a_killed_comparer_is_replaced_and_callers_do_not_notice(tmp_path):
    async def test():
        async with engines(Engine(), Engine()) as (a, b), shadow(tmp_path, a, b) as (port, process):
            expected = await ask(a, PROMPT)
            await ask(port, PROMPT)
            await observed(tmp_path, 1)
            for _ in range(2):
                (comparer,) = children(process)
                os.kill(comparer, signal.SIGKILL)
                for _ in range(5):
                    assert await ask(port, PROMPT) == expected
                await until(lambda old=comparer: children(process) not in ([], [old]), 20)
            before = len((await observed(tmp_path, 1))[0])
            await asyncio.sleep(1)
            await ask(port, PROMPT)
            await observed(tmp_path, before + 1)
        assert counts(tmp_path)["comparer died"] == 2

    run(test)


def test_a_comparer_that_does_not_run_costs_no_memory_and_no_time(tmp_path):
    """A stopped comparer stands for a disk that stalls: what it does not take is dropped."""

    async def test():
        async with engines(Engine(), Engine()) as (a, b), shadow(tmp_path, a, b) as (port, process):
            await ask(port, PROMPT)
            await observed(tmp_path, 1)
            (comparer,) = children(process)
            os.kill(comparer, signal.SIGSTOP)
            big = {**PROMPT, "prompt": "w" * 500_000}
            for _ in range(80):
                assert (await ask(port, big)).startswith(b"HTTP/1.1 200")
            with open(f"/proc/{process.pid}/status") as file:
                memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) >> 10
            assert memory < 250
            os.kill(comparer, signal.SIGCONT)
            await until(lambda: counts(tmp_path).get("dropped: comparer", 0) > 0, 20)

    run(test)


def test_a_killed_relay_takes_its_comparer_along_and_observations_stay_whole(tmp_path):
    async def test():
        async with engines(Engine(), Engine()) as (a, b), shadow(tmp_path, a, b) as (port, process):
            await ask(port, PROMPT)
            await observed(tmp_path, 1)
            (comparer,) = children(process)
            process.kill()
            await process.wait()
            await until(lambda: not os.path.exists(f"/proc/{comparer}"), 15)
        async with engines(Engine(), Engine()) as (a, b), shadow(tmp_path, a, b) as (port, _):
            await ask(port, PROMPT)
            await observed(tmp_path, 2)

    run(test)
    database = open_database(tmp_path / "rollout.sqlite")
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()


def test_a_folder_that_cannot_be_written_changes_nothing_for_callers(tmp_path):
    """The database's name is taken by a folder: no observation can be written, as on a full disk."""

    async def test():
        (tmp_path / "rollout.sqlite").mkdir()
        async with engines(Engine(), Engine()) as (a, b), shadow(tmp_path, a, b) as (port, _):
            for _ in range(3):
                assert await ask(port, PROMPT) == await ask(a, PROMPT)
            (tmp_path / "rollout.sqlite").rmdir()
            await observed(tmp_path, 3)  # nothing was lost

    run(test)


def test_an_end_lets_requests_finish(tmp_path):
    async def test():
        async with engines(Engine(pause=1.0), Engine()) as (a, b), shadow(tmp_path, a, b) as (port, process):
            asking = asyncio.create_task(ask(port, PROMPT))
            await asyncio.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            assert (await asking).startswith(b"HTTP/1.1 200")
            assert await process.wait() == 0
        with closing(open_database(tmp_path / "rollout.sqlite")) as database:
            assert [row.side for _, row in read(database, "shadow")].count("source") == 1

    run(test)


def test_a_target_whose_tls_is_wrong_is_told(tmp_path):
    async def plain(reader, writer):
        await reader.read(100)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def test():
        async with engines(Engine()) as (a,), raw_server(plain) as b:
            more = ["--target", f"https://127.0.0.1:{b}"]
            command = plan_file(tmp_path, a, b)
            command.write_text(command.read_text().replace(f"http://127.0.0.1:{b}", more[1]))
            async with shadow_of_plan(tmp_path, command) as (port, _):
                assert await ask(port, PROMPT) == await ask(a, PROMPT)
                (row,), _ = await observed_as(tmp_path, "rehearsal", 1)
                assert row.error.startswith(("tls", "refused"))

    run(test)


def test_callers_speak_tls_and_a_new_certificate_is_taken_up(tmp_path, monkeypatch):
    """The relay in this process, so that looks at the files come soon; streams, keep-alive and what is no TLS."""
    monkeypatch.setattr(serve_module, "RENEWED", 0.05)
    pair = certificates.self_signed(tmp_path / "a", ["127.0.0.1"])
    certificates.self_signed(tmp_path / "b", ["127.0.0.1"])

    def trusting(folder):
        return ssl.create_default_context(cafile=folder / certificates.AUTHORITY)

    async def answer_over(port, context):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        data = json.dumps({**PROMPT, "stream": True}).encode()
        for _ in range(2):
            writer.write(b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(data) + data)
            told = await asyncio.wait_for(reader.readuntil(b"\r\n0\r\n\r\n"), 20)
        writer.close()
        with contextlib.suppress(ssl.SSLError, ConnectionError):
            await writer.wait_closed()
        return told

    async def test():
        async with engines(Engine()) as (a,):
            plain = await ask(a, {**PROMPT, "stream": True})
            options = Options("r", str(tmp_path / "r.sqlite"), str(tmp_path / "c.json"), (server("s", f"http://127.0.0.1:{a}"),), (), port=0, sample=0.0, certificate=str(pair[0]), key=str(pair[1]))  # fmt: skip
            started = asyncio.get_running_loop().create_future()
            serving = asyncio.create_task(serve_module._serve(options, lambda host, port: started.set_result(port), 5))
            port = await asyncio.wait_for(started, 20)
            assert await answer_over(port, trusting(tmp_path / "a")) == plain
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")  # no TLS
            with contextlib.suppress(ConnectionError):
                assert b"HTTP" not in await asyncio.wait_for(reader.read(), 20)
            writer.close()
            (tmp_path / "a" / "tls.key").write_text("half written")
            await asyncio.sleep(0.2)
            assert await answer_over(port, trusting(tmp_path / "a")) == plain  # the old pair goes on
            authority = (tmp_path / "a" / certificates.AUTHORITY).read_bytes()
            for name in ("tls.crt", "tls.key"):
                os.replace(tmp_path / "b" / name, tmp_path / "a" / name)
            (tmp_path / "old").mkdir()
            (tmp_path / "old" / certificates.AUTHORITY).write_bytes(authority)
            await asyncio.sleep(0.3)
            assert await answer_over(port, trusting(tmp_path / "b")) == plain
            with pytest.raises(ssl.SSLError):
                await answer_over(port, trusting(tmp_path / "old"))
            os.kill(os.getpid(), signal.SIGTERM)
            assert await serving == 0

    run(test)


@pytest.mark.parametrize("content", [None, b"no PEM"])
def test_a_certificate_that_cannot_be_used_is_said(tmp_path, content, capsys):
    place = tmp_path / "c"
    if content is not None:
        place.write_bytes(content)
    more = ["--source", "http://127.0.0.1:1", "--folder", str(tmp_path), "--tls-certificate", str(place)]
    assert call(["shadow", *more]) == 2 and "Y092" in capsys.readouterr().err
    assert call(["shadow", *more, "--listen", "127.0.0.1:0", "--tls-key", str(place)]) == 2
    assert "Y093" in capsys.readouterr().err


def test_what_tensors_look_like_is_counted(tmp_path):
    """A target that hands its rows out as columns."""
    rows = [[float(n * n % 17 + m) for m in range(8)] for n in range(8)]

    def infers(values):
        body = json.dumps({"outputs": [{"name": "y", "datatype": "FP32", "shape": [8, 8], "data": values}]}).encode()

        async def handler(reader, writer):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
                )
                await reader.readexactly(length)
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
                    + body
                )

        return handler

    async def test():
        turned = [list(column) for column in zip(*rows)]
        async with raw_server(infers(rows)) as a, raw_server(infers(turned)) as b, shadow(tmp_path, a, b) as (port, _):
            asked = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1], "data": [1.0]}]}
            assert (await ask(port, asked, "/v2/models/m/infer")).startswith(b"HTTP/1.1 200")
            (row,), _ = await observed(tmp_path, 1)
            assert row.divergence == 2  # 0 + 2 in the first row, 2 * 2 in the first column
            await until(lambda: any(name.startswith("looks like: layout") for name in counts(tmp_path)), 20)

    run(test)
