"""Messages are followed as an independent parser (httptools, over llhttp) reads them, in whatever pieces they arrive."""

import itertools

import httptools
import pytest
from hypothesis import strategies as st

from anywarp.deploy.shadow.framing import Follower
from spread import properties


class Read:
    """What httptools makes of the bytes."""

    def __init__(self, parser, data):
        self.messages = []
        parser(self).feed_data(data)

    def on_message_begin(self):
        self.messages.append({"headers": [], "body": b"", "ended": False})

    def on_url(self, url):
        self.messages[-1]["target"] = url.decode()

    def on_header(self, name, value):
        self.messages[-1]["headers"].append((name.lower().decode(), value.decode("latin-1")))

    def on_body(self, body):
        self.messages[-1]["body"] += body

    def on_message_complete(self):
        self.messages[-1]["ended"] = True


token = st.from_regex(r"[a-zA-Z][a-zA-Z0-9-]{0,12}", fullmatch=True)
value = st.from_regex(r"([!-9;-~][ -9;-~]{0,20}[!-9;-~])?", fullmatch=True)
RESERVED = ("content-length", "transfer-encoding", "connection", "upgrade", "trailer", "proxy-connection")


@st.composite
def messages(draw):
    """One message: head and body as bytes, whichever way its length is said."""
    others = draw(st.lists(st.tuples(token.filter(lambda name: name.lower() not in RESERVED), value), max_size=4))
    lines = [f"{name}:{draw(st.sampled_from(['', ' ', '  ']))}{text}" for name, text in others]
    body = draw(st.binary(max_size=200))
    form = draw(st.sampled_from(["none", "length", "chunked"]))
    if form == "length":
        lines.insert(draw(st.integers(0, len(lines))), f"Content-Length: {len(body)}")
    elif form == "chunked":
        lines.insert(draw(st.integers(0, len(lines))), "Transfer-Encoding: Chunked")
        cuts = sorted({0, len(body), *draw(st.lists(st.integers(0, len(body)), max_size=4))})
        chunks = [body[a:b] for a, b in itertools.pairwise(cuts)]
        extension = draw(st.sampled_from([b"", b";a=b", b";x"]))
        body = b"".join(b"%x%b\r\n%b\r\n" % (len(chunk), extension, chunk) for chunk in chunks)
        body += b"0\r\n" + draw(st.sampled_from([b"", b"x-sum: 1\r\n"])) + b"\r\n"
    else:
        body = b""
    return lines, body


def in_pieces(data, cuts):
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in itertools.pairwise(places)]


def follow(follower, pieces):
    return [step for piece in pieces for step in follower.feed(piece)]


@properties(
    25, 5000, st.lists(messages(), min_size=1, max_size=4), st.lists(st.integers(0, 5000), max_size=8), st.booleans()
)
def test_messages_end_where_another_parser_says(sent, cuts, requests):
    first = "POST /v1/x?y=%20 HTTP/1.1" if requests else "HTTP/1.1 200 It is fine"
    whole = []
    for lines, body in sent:
        if not requests and not any(line.lower().startswith(("content-l", "transfer-e")) for line in lines):
            lines = [*lines, "content-length: 0"]
        whole.append("\r\n".join([first, *lines, "", ""]).encode() + body)
    data = b"".join(whole)
    follower = Follower(requests)
    steps = follow(follower, in_pieces(data, cuts))
    assert not follower.lost and follower.idle
    assert b"".join(step.raw for step in steps) == data  # nothing is changed
    got, now = [], b""
    for step in steps:
        now += step.raw
        if step.ended:
            got.append(now)
            now = b""
    assert got == whole and not now
    read = Read(httptools.HttpRequestParser if requests else httptools.HttpResponseParser, data).messages
    assert len(read) == len(whole) and all(message["ended"] for message in read)
    heads = [step.head for step in steps if step.head]
    for head, message in zip(heads, read):
        theirs = [(name, text.strip()) for name, text in message["headers"]]
        assert list(head.headers) == theirs[: len(head.headers)]  # trailers are headers to it
        assert not requests or head.target == message["target"]


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2"),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "transfer coding"),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", "content-length"),
        (b"POST / HTTP/1.1\r\nContent-Length: 3, 4\r\n\r\n", "content-length"),
        (b"POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\n", "content-length"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n", "transfer coding"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "transfer coding"),
        (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "transfer coding"),
        (b"POST / HTTP/1.1\r\nContent-Length : 3\r\n\r\n", "NAME: VALUE"),
        (b"POST / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", "NAME: VALUE"),
        (b"POST / HTTP/1.1\r\nA: b\nContent-Length: 3\r\n\r\n", "NAME: VALUE"),
        (b"POST / HTTP/1.1\r\nA: b\0c\r\n\r\n", "NAME: VALUE"),
        (b"GET /a b HTTP/1.1\r\n\r\n", "first line"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 70000, "first line"),
        (b"GET / HTTP/1.1\r\nA: " + b"x" * 70000, "64 KiB"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfoo\r\n", "size"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", "where it says"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\rX", "where it says"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n", "carriage return"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "size"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 16 + b"\r\n", "size"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * 70000, "64 KiB"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n", "trailer"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_what_is_ambiguous_is_passed_on_unread(head, reason, size):
    follower = Follower(True)
    data = head + b"and more"
    steps = follow(follower, [data[at : at + size] for at in range(0, len(data), size)])
    assert reason in follower.lost
    assert b"".join(step.raw for step in steps) == data
    assert not any(step.ended for step in steps)


def test_how_an_answer_ends_depends_on_the_request():
    for method, first, body in [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", b""),
        ("GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", b""),
        ("GET", b"HTTP/1.1 204\r\n\r\n", b""),
        ("GET", b"HTTP/1.1 100 Continue\r\n\r\n", b""),
        ("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", b"12345"),
    ]:
        follower = Follower(False)
        follower.method = method
        steps = follower.feed(first + body + b"HTTP/1.1 2")
        assert b"".join(step.raw for step in steps) == first + body and steps[-1].ended
        assert follower.give_up() == b"HTTP/1.1 2"
    follower = Follower(False)
    steps = follower.feed(b"HTTP/1.0 200 OK\r\n\r\nand so on")
    assert not steps[-1].ended and follower.until_close


@properties(60, 5000, st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5), st.booleans())
def test_any_bytes_come_out_as_they_went_in(data, cuts, requests):
    follower = Follower(requests)
    steps = follow(follower, in_pieces(data, cuts))
    assert b"".join(step.raw for step in steps) + follower.give_up() == data
