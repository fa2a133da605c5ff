"""What is replayed and what is not, what an answer says in each of its forms, and how two servers' scores are compared."""

import gzip
import json
import math

import numpy as np
import pytest
from hypothesis import strategies as st

from anywarp.deploy.shadow import openai, tensors
from anywarp.deploy.shadow.message import Unreadable, read_message
from anywarp.deploy.shadow.openai import Answer, NotComparable, Place, WrongContent
from anywarp.deploy.shadow.scoring import _kl, compare_answers, compare_scores
from spread import properties


def asked(**more):
    return json.dumps({"model": "m", "prompt": "Once", "temperature": 0, **more}).encode()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"n": 2}, "several answers"),
        ({"best_of": 3}, "several answers"),
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"functions": [{}]}, "tools"),
        ({"store": True}, "stored"),
        ({"temperature": 0.7}, "chance"),
        ({"temperature": None}, "chance"),
        ({"prompt": ["a", "b"]}, "several prompts"),
        ({"model": "another"}, "another model"),
    ],
)
def test_requests_that_are_not_replayed(more, why):
    with pytest.raises(NotComparable, match=why):
        openai.read_request("/v1/completions", asked(**more), model="m")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"[" * 100000, b'{"a":' * 100000, b"\xff"])
def test_requests_that_cannot_be_read(body):
    with pytest.raises(NotComparable):
        openai.read_request("/v1/completions", body)


def test_requests_that_are_replayed():
    for more in ({}, {"temperature": 0.7, "seed": 3}, {"tools": [{}], "tool_choice": "none"}, {"prompt": [1, 2]}):
        assert openai.read_request("/v1/completions", asked(**more), "m")["model"] == "m"
    replay = openai.replay_of({"stream": True, "stream_options": {"x": 1}})
    assert replay["stream_options"] == {"x": 1, "include_usage": True}


def stream(*events):
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events) + b"data: [DONE]\n\n"


def test_the_same_answer_in_each_form():
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    whole = json.dumps({"choices": [{"text": "ab", "finish_reason": "length"}], "usage": usage}).encode()
    chat = json.dumps({"choices": [{"message": {"content": "ab"}, "finish_reason": "stop"}], "usage": usage}).encode()
    events = stream(
        {"choices": [{"text": "a", "finish_reason": None}]},
        {"choices": [{"text": "b", "finish_reason": "length"}]},
        {"choices": [], "usage": usage},
    )
    chat_events = stream(
        {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"delta": {"content": "a"}}]},
        {"choices": [{"delta": {"content": "b"}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": usage},
    )
    for kind, body in [("application/json", whole), ("application/json", chat), ("text/event-stream", events), ("text/event-stream; charset=utf-8", chat_events)]:  # fmt: skip
        answer = openai.read_answer(kind, body)
        assert (answer.text, answer.prompt_tokens, answer.completion_tokens) == ("ab", 3, 2)
    logprobs = {"content": [
        {"token": "a", "logprob": -0.1, "top_logprobs": [{"token": "a", "logprob": -0.1}, {"token": "z", "logprob": -2.1}]},
        {"token": "b", "logprob": -0.5, "top_logprobs": []},
    ]}  # fmt: skip
    body = json.dumps({"choices": [{"message": {"content": "ab"}, "finish_reason": "stop", "logprobs": logprobs}]})
    answer = openai.read_answer("application/json", body.encode())
    assert answer.pieces == ("a", "b") and answer.margins == (pytest.approx(2.0), None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{}",
        b'{"choices": []}',
        b'{"choices": 5}',
        b'{"choices": [[]]}',
        b'{"choices": [{"text": 7, "finish_reason": "stop"}]}',
        b'{"choices": [{"text": "a"}]}',
        b'{"error": {"message": "out of memory"}}',
        b"[" * 200000,
    ],
)
def test_answers_that_are_none(body):
    with pytest.raises(WrongContent):
        openai.read_answer("application/json", body)
    with pytest.raises(WrongContent):
        openai.read_answer("text/event-stream", b"data: " + body + b"\n\n")


def test_a_stream_without_its_end_is_said():
    with pytest.raises(WrongContent, match="without its end"):
        openai.read_answer("text/event-stream", b'data: {"choices": [{"text": "a", "finish_reason": "stop"}]}\n\n')


def test_compressed_and_chunked_messages_are_read_and_bombs_are_not():
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
    packed = gzip.compress(b"hello" * 1000)
    chunks = b"%x\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (10, packed[:10], len(packed) - 10, packed[10:])
    _, body = read_message(b"HTTP/1.1 100 Continue\r\n\r\n" + head + chunks, requests=False)
    assert body == b"hello" * 1000
    bomb = gzip.compress(b"\0" * (65 << 20), 9)
    with pytest.raises(Unreadable, match="too long"):
        read_message(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + bomb, requests=False)
    for rest in (b"content-encoding: br\r\n\r\nx", b"content-encoding: gzip\r\n\r\nx", b"content-length: 9\r\n\r\nx"):
        with pytest.raises(Unreadable):
            read_message(b"HTTP/1.1 200 OK\r\n" + rest, requests=False)


def test_scores_in_vllms_form_and_by_echo_say_the_same():
    vllm = {"choices": [{"text": "!", "prompt_logprobs": [None, {"7": {"logprob": -1.0, "rank": 2, "decoded_token": "b"}, "9": {"logprob": -0.5, "rank": 1, "decoded_token": "z"}}]}]}  # fmt: skip
    echo = {"choices": [{"text": "ab!", "logprobs": {"tokens": ["a", "b", "!"], "token_logprobs": [None, -1.0, -0.1], "top_logprobs": [None, {"z": -0.5}, {"!": -0.1}]}}]}  # fmt: skip
    (a,) = openai.read_scores(json.dumps(vllm).encode(), "vllm")
    (b,) = openai.read_scores(json.dumps(echo).encode(), "echo")
    assert (a.token, a.text, a.top) == ("7", "b", {"7": -1.0, "9": -0.5})
    assert (b.token, b.text, b.top) == ("b", "b", {"z": -0.5, "b": -1.0})
    chat = {"choices": [{"message": {}}], "prompt_logprobs": vllm["choices"][0]["prompt_logprobs"]}
    assert openai.read_scores(json.dumps(chat).encode(), "vllm") == [a]
    assert openai.read_scores(b'{"choices": [{"text": "a", "logprobs": null}]}', "echo") is None
    for value in ("NaN", "1.5", '"x"', "null"):
        with pytest.raises(WrongContent):
            openai.read_scores(json.dumps(vllm).replace("-1.0", value).encode(), "vllm")


def place(token, *logits):
    """A place whose whole distribution is told: the softmax of the logits."""
    peak = max(logits)
    total = math.log(sum(math.exp(x - peak) for x in logits)) + peak
    return Place(str(token), "ab"[token], {str(n): x - total for n, x in enumerate(logits)})


def test_scores_are_compared_along_the_callers_text():
    caller = [place(0, 0, 0), place(0, 2, 0), place(1, 0, 3), place(0, 1, 0.9)]
    shadow = [place(0, 5, 0), place(0, 2, 0), place(1, 0, 3), place(0, 0.9, 1)]
    answer = Answer("aba", ("a", "b", "a"))
    seen = compare_scores(caller, shadow, 2, answer, answer)
    assert (seen.comparison, seen.compared, seen.divergence, seen.agree) == (
        "teacher-forced",
        3,
        2,
        pytest.approx(2 / 3),
    )
    assert seen.margin == pytest.approx(0.1)
    p, q = (np.exp([1, 0.9]) / np.exp([1, 0.9]).sum(), np.exp([0.9, 1]) / np.exp([0.9, 1]).sum())
    assert seen.kl == pytest.approx(float((p * np.log(p / q)).sum()) / 3)
    assert compare_scores(caller, shadow, None, answer, answer) == seen  # where the answer begins is found by its text


def test_an_answer_that_parts_where_scores_agree_counts():
    """A cache that is wrong while tokens are made is not seen by scoring, which computes them at once."""
    same = [place(0, 2, 0), place(0, 2, 0), place(1, 0, 3), place(0, 4, 0)]
    answer, replayed = Answer("aba", ("a", "b", "a")), Answer("abb", ("a", "b", "b"))
    seen = compare_scores(same, same, 2, answer, replayed)
    assert (seen.agree, seen.kl, seen.divergence, seen.margin) == (1, 0, 2, pytest.approx(4))
    assert compare_scores(same, same, 2, answer, answer).divergence is None


def test_other_tokens_for_the_same_text_are_said():
    with pytest.raises(WrongContent, match="tokens"):
        compare_scores([place(0, 1, 0)], [place(1, 1, 0)], 1, Answer("a"), None)


@properties(
    60,
    5000,
    st.lists(
        st.floats(-9, 9), min_size=3, max_size=12
    ),  # what is left untold is 1 less what is told: far below, rounding is all of it
    st.lists(st.floats(-9, 9), min_size=12, max_size=12),
    st.integers(1, 12),
    st.integers(1, 12),
)
def test_kl_over_the_likeliest_is_never_more_than_over_all(logits, others, top_p, top_q):
    """Against numpy over the whole distribution; equal where all of it is told."""
    a, b = np.array(logits), np.array(others[: len(logits)])
    p, q = (np.exp(x - x.max()) / np.exp(x - x.max()).sum() for x in (a, b))
    exact = float((p * np.log(p / q)).sum())

    def told(share, count):
        return {str(n): float(np.log(share[n])) for n in np.argsort(-share)[:count]}

    assert -1e-9 <= _kl(told(p, top_p), told(q, top_q)) <= exact + 1e-6 * max(1, exact)
    assert _kl(told(p, 12), told(q, 12)) == pytest.approx(exact, rel=1e-6, abs=1e-6)


@properties(60, 5000, st.text("ab ", max_size=12), st.text("ab ", max_size=12), st.integers(1, 3))
def test_free_answers_are_compared_up_to_the_first_difference(a, b, size):
    pieces = tuple(a[n : n + size] for n in range(0, len(a), size))
    seen = compare_answers(Answer(a, pieces), Answer(b))
    if a == b:
        assert seen.divergence is None
    elif len(pieces) > 1:
        common = next((n for n in range(len(a)) if a[n : n + 1] != b[n : n + 1]), len(a))
        assert seen.divergence == common // size or (common == len(a) and seen.divergence == len(pieces))


def outputs(*data, kind="FP32"):
    return json.dumps({"outputs": [{"name": "y", "datatype": kind, "shape": [len(data)], "data": data}]}).encode()


def test_tensors_are_compared_within_rounding():
    seen = tensors.compare_outputs(outputs(100.0, 1.0, 0.0), outputs(100.0004, 1.0002, 1e-6))
    assert (seen.comparison, seen.compared, seen.divergence, seen.agree) == ("divergence", 3, None, 1)
    seen = tensors.compare_outputs(outputs(100.0, 1.0, 0.0), outputs(100.0, 1.01, 0.0))
    assert (seen.divergence, seen.agree) == (1, pytest.approx(2 / 3))
    assert tensors.compare_outputs(outputs(1, 2, kind="INT64"), outputs(1, 3, kind="INT64")).divergence == 1
    assert tensors.compare_outputs(outputs(1.0, None), outputs(1.0, None)).divergence is None
    assert tensors.compare_outputs(outputs(1.0), outputs(float("nan"))).divergence == 0
    for other in (outputs(1.0, kind="FP64"), outputs(1.0, 2.0), b"{}", b"[]", b'{"outputs": [{}]}'):
        with pytest.raises(WrongContent):
            tensors.compare_outputs(outputs(1.0), other)
    short = outputs(1.0, 2.0).replace(b"[1.0, 2.0]", b"[1.0]")  # its shape still says two
    with pytest.raises(WrongContent, match="fewer or more"):
        tensors.compare_outputs(outputs(1.0, 2.0), short)


def table(values, kind="FP32", shape=(8, 8)):
    rows = [float(x) for x in np.asarray(values).ravel()]
    return json.dumps({"outputs": [{"name": "y", "datatype": kind, "shape": list(shape), "data": rows}]}).encode()


def test_tensors_that_part_say_what_they_look_like():
    values = np.random.default_rng(2).normal(size=(8, 8))
    assert tensors.likely_cause(table(values), table(values.T)).startswith("layout")
    assert tensors.likely_cause(table(values), table(values * 2)).startswith("scale")
    assert tensors.likely_cause(table(values), table(values)) is None
    assert tensors.likely_cause(table(values, shape=(3, 5)), table(values.T, shape=(3, 5))) is None  # no such shape
    assert tensors.likely_cause(table(values, shape=(-1, "x")), table(values.T, shape=(-1, "x"))) is None
    assert tensors.likely_cause(outputs(1, 2, kind="INT64"), outputs(1, 3, kind="INT64")) is None
