"""The server over real connections: TLS that is read anew, limits that hold, workers that may die or hang."""

import asyncio
import io
import json
import os
import ssl
import stat
from contextlib import asynccontextmanager

import aiohttp
import pytest

from anywarp.deploy.webhook import certificates, crew, server
from anywarp.diagnostics import AnywarpError
from deploy.webhook.reviews import POD, patched, response, review

JSON = {"Content-Type": "application/json"}


@asynccontextmanager
async def running(told=None, **serving):
    own = server.Serving(
        **{"port": 0, "workers": 1, "time_limit": 10.0, "told": (told if told is not None else []).append, **serving}
    )
    made = server.Server(own)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


async def ask(made, data=None, path="/convert", tls=None, **options):
    scheme = "https" if tls else "http"
    async with aiohttp.ClientSession() as session:
        url = f"{scheme}://127.0.0.1:{made.port}{path}"
        call = (
            session.get(url, ssl=tls or False)
            if data is None
            else session.post(url, data=data, headers=JSON, ssl=tls or False, **options)
        )
        async with call as got:
            return got.status, await got.read()


def trust(folder):
    return ssl.create_default_context(cafile=folder / certificates.AUTHORITY)


def test_reviews_are_answered_over_tls_and_a_new_certificate_is_taken_up(tmp_path):
    async def main():
        told = []
        watched = certificates.Watched(*certificates.self_signed(tmp_path / "a", ["127.0.0.1"]))
        async with running(told, certificate=watched) as made:
            status, data = await ask(made, review(POD), tls=trust(tmp_path / "a"))
            assert status == 200
            assert patched(POD, response(data))["spec"]["containers"][0]["resources"]["limits"]["amd.com/gpu"] == 1
            certificates.self_signed(tmp_path / "b", ["127.0.0.1"])
            for name in ("tls.crt", "tls.key"):
                os.replace(tmp_path / "b" / name, tmp_path / "a" / name)
            made.refresh()
            assert (await ask(made, path="/readyz", tls=trust(tmp_path / "b")))[0] == 200
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await ask(made, path="/readyz", tls=trust(tmp_path / "a"))
            (tmp_path / "a" / "tls.key").write_text("half written")
            made.refresh()
            assert (await ask(made, path="/readyz", tls=trust(tmp_path / "b")))[0] == 200  # the old pair goes on
            assert any("Y111" in line for line in told)
            metrics = (await ask(made, path="/metrics", tls=trust(tmp_path / "b")))[1].decode()
            assert 'anywarp_webhook_reviews_total{outcome="converted"} 1.0' in metrics
            assert 'anywarp_webhook_certificate_loads_total{result="failed"} 1.0' in metrics

    asyncio.run(main())


def test_the_pair_of_a_first_try_is_private_and_kept(tmp_path):
    certificate, key = certificates.self_signed(tmp_path / "pair", ["localhost"])
    assert stat.S_IMODE((tmp_path / "pair").stat().st_mode) == 0o700 and stat.S_IMODE(key.stat().st_mode) == 0o600
    before = certificate.read_bytes()
    assert certificates.self_signed(tmp_path / "pair", ["localhost"])[0].read_bytes() == before


@pytest.mark.parametrize("content", [None, b"", b"no PEM", b"\xff" * 100])
def test_a_certificate_that_cannot_be_used_is_said(tmp_path, content):
    if content is not None:
        (tmp_path / "c").write_bytes(content)
    with pytest.raises(AnywarpError) as caught:
        certificates.Watched(tmp_path / "c", tmp_path / "c")
    assert caught.value.diagnostic.code == "Y111"


def test_what_is_no_review_is_refused_and_counted_and_the_server_goes_on():
    async def main():
        async with running() as made:
            assert (await ask(made, b"{"))[0] == 400
            assert (await ask(made, io.BytesIO(b"x" * (server.LARGEST + 1))))[0] == 413
            async with (
                aiohttp.ClientSession() as session,
                session.post(f"http://127.0.0.1:{made.port}/convert", data=b"a=b") as got,
            ):
                assert got.status == 415
            assert (await ask(made, path="/other"))[0] == 404
            assert (await ask(made, review(POD)))[0] == 200
            metrics = (await ask(made, path="/metrics"))[1].decode()
            assert 'anywarp_webhook_refused_requests_total{reason="too large"} 1.0' in metrics
            assert 'anywarp_webhook_reviews_total{outcome="no-review"} 1.0' in metrics

    asyncio.run(main())


def test_a_worker_that_hangs_or_dies_costs_its_review_alone():
    async def main():
        async with running(time_limit=4.0) as made:
            (worker,) = made._crew._running.values()
            os.kill(worker.process.pid, 19)  # SIGSTOP: it is silent
            status, data = await ask(made, review(POD))
            assert (
                status == 200
                and "took more than 4 s" in response(data)["warnings"][0]
                and "patch" not in response(data)
            )
            assert "patch" in await answered(made)
            (worker,) = made._crew._running.values()
            os.kill(worker.process.pid, 19)
            asking = asyncio.ensure_future(ask(made, review(POD)))
            await asyncio.sleep(0.5)
            os.kill(worker.process.pid, 9)
            said = response((await asking)[1])
            assert "ended the process" in said["warnings"][0]
            assert "patch" in await answered(made)

    async def answered(made):
        for _ in range(5):  # a new worker takes a while to start where the machine is busy
            told = response((await ask(made, review(POD)))[1])
            if "patch" in told:
                break
        return told

    asyncio.run(main())


def test_a_review_that_comes_slowly_or_not_at_all_is_given_up():
    async def main():
        async with running(time_limit=0.5) as made:
            reader, writer = await asyncio.open_connection("127.0.0.1", made.port)
            writer.write(
                b"POST /convert HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
            )
            assert b"408" in await asyncio.wait_for(reader.readline(), 10)
            writer.close()
            silent = [await asyncio.open_connection("127.0.0.1", made.port) for _ in range(3)]
            await asyncio.sleep(0.1)
            connections = made._connections
            connections._silent_since = {one: since - 100 for one, since in connections._silent_since.items()}
            connections.sweep()
            for reader, writer in silent:
                with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                    await asyncio.wait_for(reader.readexactly(1), 10)
                writer.close()

    asyncio.run(main())


def test_more_connections_than_may_be_are_closed(monkeypatch):
    monkeypatch.setattr(server, "_MOST_CONNECTIONS", 2)

    async def main():
        async with running() as made:
            held = [await asyncio.open_connection("127.0.0.1", made.port) for _ in range(2)]
            await asyncio.sleep(0.1)
            reader, writer = await asyncio.open_connection("127.0.0.1", made.port)
            assert await asyncio.wait_for(reader.read(), 10) == b""
            for _, one in [*held, (reader, writer)]:
                one.close()

    asyncio.run(main())


def test_without_a_uid_that_is_known_there_is_nothing_to_answer():
    assert crew._unanswered(b'{"request": {"uid": "a-1", "x', "late").outcome == "not-understood"
    assert json.loads(crew._unanswered(b'{"request":{"uid":"a-1"', "late").data)["response"]["uid"] == "a-1"
    assert crew._unanswered(b"{}", "late").data == b""


def test_an_address_in_use_is_said():
    async def main():
        async with running() as made:
            with pytest.raises(AnywarpError) as caught:
                async with running(port=made.port):
                    pass
            assert caught.value.diagnostic.code == "Y112"

    asyncio.run(main())
