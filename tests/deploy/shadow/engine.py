"""A server of OpenAI's interface whose every answer is known, and which can be made to do anything."""

import asyncio
import contextlib
import json
import math

from deploy.shadow.proxy import raw_server

WORDS = [" one", " two", " three", " four", " five"]


def choose(text):
    """The words of every vocabulary entry with their log-probabilities behind a text: far apart, so that no rounding flips them."""
    first = len(text.split()) % len(WORDS)
    logits = {word: 3.0 * (len(WORDS) - (n - first) % len(WORDS)) for n, word in enumerate(WORDS)}
    total = math.log(sum(math.exp(x) for x in logits.values()))
    return {word: x - total for word, x in logits.items()}


class Engine:
    """`fault` is what it does wrong; `seen` are the requests that came, with their headers."""

    def __init__(self, fault="", scores="vllm", pause=0.0):
        self.fault, self.scores, self.pause, self.seen = fault, scores, pause, []

    async def __call__(self, reader, writer):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:-2])
            body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
            self.seen.append((headers, body))
            fault = body.get("user") if self.fault == "as asked" else self.fault
            if fault in FAULTS:
                await FAULTS[fault](reader, writer)
                return
            if self.pause:
                await asyncio.sleep(self.pause)
            self.answer(writer, body)
            await writer.drain()

    def answer(self, writer, body):
        prompt = " ".join(turn["content"] for turn in body["messages"]) if "messages" in body else body["prompt"]
        text, made = prompt, []
        for _ in range(body.get("max_tokens", 5)):
            likeliest = choose(text)
            word = max(likeliest, key=likeliest.get)
            if (self.fault == "flip" and len(made) == 2) or (self.fault == "decode" and len(made) == 1):
                word = WORDS[(WORDS.index(word) + 1) % len(WORDS)]
            made.append(word)
            text += word
        usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(made)}
        if body.get("stream"):
            self.stream(writer, made, usage, "messages" in body)
            return
        choice = {"text": "".join(made), "message": {"content": "".join(made)}, "finish_reason": "length"}
        if body.get("prompt_logprobs") and self.scores == "vllm":
            choice["prompt_logprobs"] = [None, *self.score(prompt)]
        if body.get("echo") and self.scores == "echo":
            marks = [None, *({w: e["logprob"] for w, e in entry.items()} for entry in self.score(prompt))]
            tokens = [prompt.split()[0], *(next(iter(entry)) for entry in marks[1:]), made[0]]
            own = [None, *(entry[next(iter(entry))] for entry in marks[1:]), -0.1]
            choice["logprobs"] = {"tokens": tokens, "token_logprobs": own, "top_logprobs": [*marks, {made[0]: -0.1}]}
        data = json.dumps({"choices": [choice], "usage": usage}).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(data) + data
        )

    def score(self, text):
        """vLLM's entries for each word behind the first."""
        words = text.split()
        for n in range(1, len(words)):
            token = " " + words[n]
            likeliest = choose(" ".join(words[:n]))
            if self.fault == "flip":
                likeliest = {w: math.log(1 / len(WORDS)) - 0.01 * n for n, w in enumerate(reversed(WORDS))}
            likeliest.setdefault(token, -9.0)
            order = [token, *(w for w in likeliest if w != token)]
            yield {w: {"logprob": min(likeliest[w], 0.0), "rank": 1, "decoded_token": w} for w in order}

    def stream(self, writer, made, usage, chat):
        events = [{"choices": [{"delta": {"content": word}} if chat else {"text": word}]} for word in made]
        events += [{"choices": [{"delta": {}, "finish_reason": "length"}]}, {"choices": [], "usage": usage}]
        data = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events) + b"data: [DONE]\n\n"
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for at in range(0, len(data), 50):
            piece = data[at : at + 50]
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        writer.write(b"0\r\n\r\n")


async def stall(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{")
    await writer.drain()
    await asyncio.sleep(60)


async def silence(reader, writer):
    await asyncio.sleep(60)


async def endless(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
    while True:
        writer.write(b'data: {"choices": [{"text": "x"}]}\n\n' * 1000)
        await writer.drain()


async def say(writer, data):
    writer.write(data)
    await writer.drain()


FAULTS = {
    "stall": stall,
    "silence": silence,
    "endless": endless,
    "hang up": lambda r, w: say(w, b""),
    "half": lambda r, w: say(w, b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"),
    "html": lambda r, w: say(w, b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>"),
    "deep": lambda r, w: say(w, b"HTTP/1.1 200 OK\r\ncontent-length: 90000\r\n\r\n" + b"[" * 90000),
    "garbage": lambda r, w: say(w, b"\x00\xff" * 500),
    "header": lambda r, w: say(w, b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200000 + b"\r\n\r\n"),
    "error": lambda r, w: say(w, b"HTTP/1.1 500 Oh no\r\ncontent-length: 2\r\n\r\n{}"),
    "elsewhere": lambda r, w: say(
        w, b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
    ),
    "packed": lambda r, w: say(w, b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx"),
}


@contextlib.asynccontextmanager
async def engines(*several):
    """Serve several engines; yields their ports."""
    async with contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(raw_server(engine)) for engine in several]
