"""What callers get through the relay: the same bytes as without it, in the same pieces of time, whatever server and caller do."""

import asyncio
import gzip
import itertools
import json
import socket
import struct

import pytest
from hypothesis import strategies as st

from anywarp.deploy.shadow.options import Control, server
from deploy.shadow.proxy import raw_server, relay_to, talk, until
from spread import properties

POST = b"POST /v1/completions HTTP/1.1\r\nHoSt: a\r\nX-Odd:   two  spaces \r\ncontent-length: 4\r\n\r\nbody"


def run(test):
    async def bounded():
        await asyncio.wait_for(test(), 30)

    asyncio.run(bounded())


def says(*parts, pause=0.0, close=True):
    """A server that reads a head and then writes the parts."""

    async def handler(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        if not close:
            await reader.read()

    return handler


def reset(writer):
    """Break a connection off as a process does that dies with bytes unread."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


ANSWERS = {
    "length": [b"HTTP/1.1 200 OK\r\nServer: Odd/1\r\nsERVER:  twice\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"],
    "chunked with trailers": [b"HTTP/1.1 200 Fine by me\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\nconnection: close\r\n\r\n3;ext=1\r\nabc\r\n", b"A\r\n0123456789\r\n0\r\nx-sum: 7\r\n\r\n"],
    "until close": [b"HTTP/1.0 200 OK\r\n\r\nas long as ", b"it takes"],
    "events": [b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n", *[b"9\r\ndata: %d\n\n\r\n" % n for n in range(9)], b"0\r\n\r\n"],
    "gzip": [b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n" + gzip.compress(b"x" * 99)],
    "continue": [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 1\r\nconnection: close\r\n\r\n1"],
    "nothing": [],
    "half a head": [b"HTTP/1.1 200 OK\r\nContent-Le"],
    "cut off": [b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly this"],
    "no HTTP at all": [b"SSH-2.0-OpenSSH_9.2\r\n", b"\x00\x01\x02" * 1000],
    "a bad chunk": [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nwhat?"],
    "two lengths": [b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nwhat"],
    "more than it said": [b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nfor what follows nobody asked"],
    "another protocol": [b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n\x81\x05hello", b"\x82\x01x"],
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_passed_on_byte_for_byte(name):
    async def test():
        async with raw_server(says(*ANSWERS[name], pause=0.001)) as port, relay_to(port) as (proxy, noted, _):
            direct = await talk(port, POST)
            assert await talk(proxy, POST) == direct == b"".join(ANSWERS[name])
            await until(lambda: noted.exchanges)
            exchange = noted.exchanges[0]
            broken = name in ("nothing", "half a head", "cut off", "no HTTP at all", "a bad chunk", "two lengths")
            assert bool(exchange.error) == (broken or name == "another protocol") and exchange.ended
            if not broken:
                assert exchange.side == "source" and exchange.member == "s0" and noted.requests[0] == POST

    run(test)


def test_a_request_is_passed_on_byte_for_byte():
    """Odd requests, in odd pieces, one behind the other, arrive as they were sent."""
    requests = [
        POST,
        b"get /lower HTTP/1.1\r\nA:b\r\nA: c\r\n\r\n",
        b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\nT: railer\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n",
    ]
    data = b"".join(requests)

    async def handler(reader, writer):
        got = b""
        while len(got) < len(data):
            got += await reader.read(100000)
        seen.append(got)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" * 4)
        await writer.drain()

    seen = []

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, noted, _):
            for size in (1, 3, 50, 10000):
                got = await talk(proxy, data, [data[at : at + size] for at in range(0, len(data), size)])
                assert got == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok" * 4
            await until(lambda: len(noted.exchanges) == 16)
            assert [e.path for e in noted.exchanges[:4]] == ["/v1/completions", "/lower", "/x", "*"]
            assert noted.requests[:4] == [requests[0], b"", requests[2], b""]  # only POST is kept

    run(test)
    assert seen == [data] * 4


@properties(15, 500, st.lists(st.binary(max_size=60), max_size=4), st.lists(st.binary(max_size=60), max_size=4))
def test_whatever_is_sent_both_ways_arrives(sent, answered):
    """No bytes of caller or server make the relay add, drop or change any."""
    got = []

    async def handler(reader, writer):
        for part in answered:
            writer.write(part)
        writer.write_eof()
        got.append(await reader.read())

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, _, _relay):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy)
            writer.write(b"\n" + b"".join(sent))  # so that it is no HTTP, whatever follows
            writer.write_eof()
            assert await asyncio.wait_for(reader.read(), 10) == b"".join(answered)
            writer.close()
            await until(lambda: got)

    run(test)


def test_a_stream_flows_as_it_is_made():
    """Each piece is with the caller before the next is made."""
    go = asyncio.Event()

    async def handler(reader, writer):
        await reader.readuntil(b"body")
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for n in range(20):
            writer.write(b"9\r\ndata: %d\n\n\r\n" % (n % 10))
            await go.wait()
            go.clear()
        writer.write(b"0\r\n\r\n")

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, noted, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy)
            writer.write(POST)
            await reader.readuntil(b"\r\n\r\n")
            for n in range(20):
                assert await asyncio.wait_for(reader.readexactly(14), 5) == b"9\r\ndata: %d\n\n\r\n" % (n % 10)
                go.set()
            await reader.readexactly(5)
            writer.close()
            await until(lambda: noted.exchanges)
            assert noted.exchanges[0].error is None and noted.exchanges[0].first <= noted.exchanges[0].ended

    run(test)


def test_an_upload_flows_as_it_is_made():
    async def handler(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for n in range(20):
            await reader.readexactly(1000)
            writer.write(b"%2d" % n)  # answers while the request is still on the way

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, _, _relay):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy)
            writer.write(b"POST / HTTP/1.1\r\ncontent-length: 20000\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            for n in range(20):
                writer.write(b"x" * 1000)
                assert await asyncio.wait_for(reader.readexactly(2), 5) == b"%2d" % n
            writer.close()

    run(test)


@pytest.mark.parametrize("leave", [lambda writer: writer.close(), lambda writer: reset(writer)], ids=["ends", "resets"])
def test_a_caller_who_leaves_ends_the_servers_work(leave):
    left = asyncio.Event()

    async def handler(reader, writer):
        await reader.readuntil(b"body")
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n")
        await reader.read()
        left.set()

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, noted, relay):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy)
            writer.write(POST)
            await reader.readuntil(b"x\r\n")
            leave(writer)
            await asyncio.wait_for(left.wait(), 5)
            await until(lambda: noted.exchanges)
            assert noted.exchanges[0].error == "client left" and not relay.clients and relay.kept == 0

    run(test)


def test_a_slow_reader_holds_the_server_back():
    """A caller that takes nothing: the server can send no more than what buffers hold, and all of it arrives in the end."""
    sent = 0
    whole = 48 << 20

    async def handler(reader, writer):
        nonlocal sent
        await reader.readuntil(b"body")
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % whole)
        while sent < whole:
            writer.write(b"y" * (1 << 16))
            await writer.drain()
            sent += 1 << 16

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, noted, relay):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy, limit=1 << 16)
            writer.write(POST)
            await asyncio.sleep(0.5)
            stuck = sent
            await asyncio.sleep(0.2)
            assert sent == stuck < whole / 2
            buffered = sum(client.transport.get_write_buffer_size() for client in relay.clients)
            assert buffered < 1 << 20
            got = 0
            while piece := await reader.read(1 << 20):
                got += len(piece)
            assert got > whole
            await until(lambda: noted.exchanges)
            assert noted.exchanges[0].error is None and noted.exchanges[0].not_kept == "too long" and relay.kept == 0
            writer.close()

    run(test)


def test_a_server_that_stops_reading_holds_the_caller_back():
    async def handler(reader, writer):
        await asyncio.sleep(60)

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, _, relay):
            _reader, writer = await asyncio.open_connection("127.0.0.1", proxy)
            writer.write(b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n")
            sent = 0  # the system's buffers of two connections hold up to 72 MiB (tcp_rmem and tcp_wmem of Linux 6.18)
            while sent < 256 << 20:
                writer.write(b"z" * (1 << 18))
                sent += 1 << 18
                try:
                    await asyncio.wait_for(writer.drain(), 0.5)
                except asyncio.TimeoutError:
                    break
            assert sent < 128 << 20
            reset(writer)
            await until(lambda: relay.sweep() or not relay.clients)

    run(test)


def test_an_answer_without_length_that_breaks_off_is_not_taken_for_whole():
    """A reset becomes a reset: the caller must not read the end of it as the end of the answer."""

    async def handler(reader, writer):
        await reader.readuntil(b"body")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhalf of ")
        await writer.drain()
        await asyncio.sleep(0.05)
        reset(writer)

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, noted, _):
            for way in (port, proxy):
                with pytest.raises(ConnectionResetError):
                    await talk(way, POST)
            assert noted.exchanges[0].error.startswith("broken")

    run(test)


def test_connections_are_kept_and_reused():
    """A hundred requests of one caller over one connection are one connection to the server, too."""
    connections = 0

    async def handler(reader, writer):
        nonlocal connections
        connections += 1
        while True:
            await reader.readuntil(b"body")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, noted, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy)
            for _ in range(100):
                writer.write(POST)
                assert (await reader.readuntil(b"ok")).endswith(b"\r\n\r\nok")
            writer.close()
            assert len(noted.exchanges) == 100 and connections == 1

    run(test)


def test_a_dead_server_is_passed_over_and_a_dead_pool_is_said():
    async def test():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            dead = free.getsockname()[1]  # bound, and nobody listens
            async with raw_server(says(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")) as port:
                async with relay_to([dead, port]) as (proxy, noted, _):
                    for _ in range(6):
                        assert (await talk(proxy, POST)).startswith(b"HTTP/1.1 200")
                    assert {e.member for e in noted.exchanges} == {"s1"}
                async with relay_to(dead) as (proxy, noted, _):
                    got = await talk(proxy, POST)
                    assert got.startswith(b"HTTP/1.1 502") and b"s0 cannot be reached" in got
                    assert noted.exchanges[0].status == 502 and noted.exchanges[0].error.startswith("refused")

    run(test)


def chat(first, turns):
    """A conversation's request: all its messages so far."""
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": first}]
    messages += [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Go on."}] * turns
    body = json.dumps({"messages": messages}).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


def who(name):
    async def handler(reader, writer):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
            await reader.readexactly(int(length[0].split(b":")[1]) if length else 0)
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n" + name)

    return handler


def test_conversations_stay_on_their_side_while_the_share_grows():
    async def test():
        async with (
            raw_server(who(b"source")) as source,
            raw_server(who(b"target")) as target,
            relay_to(source, target) as (proxy, noted, relay),
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy)  # one connection for all
            sides = {n: [] for n in range(60)}
            for turn, share in enumerate([0.0, 0.05, 0.25, 0.25, 0.5, 1.0]):
                relay.control = Control(target_share=share)
                for n in sides:
                    writer.write(chat(f"I am number {n}", turn))
                    sides[n].append((await reader.readexactly(44))[-6:])
            writer.close()
            for seen in sides.values():
                assert [len(list(run)) for _, run in itertools.groupby(seen)] in ([n, 6 - n] for n in range(1, 6))
                assert seen[0] == b"source" and seen[-1] == b"target" and seen[2] == seen[3]
            at_quarter = sum(seen[2] == b"target" for seen in sides.values())
            assert 4 <= at_quarter <= 30
            assert [e.side.encode() for e in noted.exchanges][-60:] == [b"target"] * 60

    run(test)


def test_requests_sent_ahead_are_answered_in_order_by_both_sides():
    async def test():
        async with (
            raw_server(who(b"source")) as source,
            raw_server(who(b"target")) as target,
            relay_to(source, target, Control(target_share=0.5)) as (proxy, noted, _),
        ):
            data = b"".join(chat(f"number {n}", 0) for n in range(40))
            got = (
                await talk(proxy, data + b"GET / HTTP/1.0\r\n\r\n", [data[:5000], data[5000:]], end=False)
                if False
                else None
            )
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy)
            writer.write(data)
            got = await asyncio.wait_for(reader.readexactly(44 * 40), 10)
            writer.close()
            order = [got[44 * n + 38 : 44 * n + 44].decode() for n in range(40)]
            assert order == [e.side for e in noted.exchanges] and set(order) == {"source", "target"}
            assert [e.path for e in noted.exchanges] == ["/v1/chat/completions"] * 40

    run(test)


def test_a_header_names_the_conversation_before_the_body_is_there():
    async def test():
        async with (
            raw_server(who(b"source")) as source,
            raw_server(who(b"target")) as target,
            relay_to(source, target, Control(target_share=0.5)) as (proxy, _, _relay),
        ):
            sides = set()
            for n in range(20):
                head = b"POST / HTTP/1.1\r\nX-Conversation-Id: %d\r\nconnection: x\r\ncontent-length: 1\r\n\r\n" % n
                got = {(await one(proxy, head + b"%d" % turn))[-6:] for turn in range(3)}
                assert len(got) == 1
                sides |= got
            assert sides == {b"source", b"target"}

    async def one(port, data):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        got = await reader.readexactly(44)
        writer.close()
        return got

    run(test)


def test_a_gateway_says_which_side_answered():
    answer = b"HTTP/1.1 200 OK\r\nX-Anywarp-Side: target/mi300-1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

    async def test():
        async with raw_server(says(answer)) as port:
            gateway = server("haproxy", f"http://127.0.0.1:{port}")
            async with relay_to([], [], Control(target_share=0.5), gateway=gateway) as (proxy, noted, _):
                assert await talk(proxy, POST) == answer
                assert (noted.exchanges[0].side, noted.exchanges[0].member) == ("target", "mi300-1")

    run(test)


def test_draining_lets_requests_end_and_cuts_what_does_not():
    async def slow(reader, writer):
        await reader.readuntil(b"body")
        await asyncio.sleep(0.3)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        await reader.read()

    async def test():
        async with raw_server(slow) as port, relay_to(port) as (proxy, noted, relay):
            idle_reader, idle_writer = await asyncio.open_connection("127.0.0.1", proxy)
            talking = asyncio.create_task(talk(proxy, POST))
            await until(lambda: any(client.answering for client in relay.clients))
            assert await relay.drain(5) == 0
            assert (await talking).endswith(b"ok") and noted.exchanges[0].error is None
            assert await idle_reader.read() == b""
            idle_writer.close()

    run(test)


def test_http_2_is_passed_on_unread_and_counted():
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"

    async def handler(reader, writer):
        assert await reader.readexactly(len(preface)) == preface
        writer.write(b"\x00\x00\x00\x04\x01\x00\x00\x00\x00")

    async def test():
        async with raw_server(handler) as port, relay_to(port) as (proxy, noted, _):
            assert await talk(proxy, preface) == b"\x00\x00\x00\x04\x01\x00\x00\x00\x00"
            assert noted.counts == ["not followed: HTTP/2"]

    run(test)


def test_a_clock_that_is_set_disturbs_no_times(monkeypatch):
    """The wall clock jumps back a day with each look at it; how long an answer took is told by another."""
    days = itertools.count()
    monkeypatch.setattr("anywarp.deploy.shadow.relay.time.time", lambda: 1e9 - 86400 * next(days))

    async def test():
        answer = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n"
        async with raw_server(says(answer, b"ok", pause=0.05)) as port, relay_to(port) as (proxy, noted, _):
            for _ in range(3):
                await talk(proxy, POST)
            await until(lambda: len(noted.exchanges) == 3)
            assert [e.wall for e in noted.exchanges] == [1e9, 1e9 - 86400, 1e9 - 2 * 86400]
            assert all(0.04 < e.ended - e.began < 5 and e.began <= e.first <= e.ended for e in noted.exchanges)

    run(test)
