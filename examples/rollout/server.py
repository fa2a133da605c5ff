"""A small server of the story model with OpenAI's interface, for rehearsing a rollout: `python server.py --port 8001`.

Completions and chats, whole or as streams, with log-probabilities, `echo` and vLLM's `prompt_logprobs`. `--fault` plants a mistake.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
import uuid

from aiohttp import web
from engine import Engine, Token, Work
from model import CONTEXT, Model

FAULTS = {
    "rope-base": "positions are rotated with another base: answers are wrong, the longer the more",
    "slow-tail": "one request in five takes two seconds longer",
    "errors": "one request in a hundred fails with status 500",
}


class Refused(Exception):
    """A request that cannot be served, with the reason for its caller."""


class Server:
    def __init__(self, model: Model, engine: Engine, name: str, fault: str | None):
        self.model, self.engine, self.name, self.fault = model, engine, name, fault
        self.random = random.Random(1)

    async def health(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok", "device": self.model.device})

    async def models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": self.name, "object": "model"}]})

    async def answer(self, request: web.Request) -> web.StreamResponse:
        chat = request.path.endswith("/chat/completions")
        try:
            asked = await request.json()
            if self.fault == "errors" and self.random.random() < 1 / 100:
                return web.json_response({"error": {"message": "illegal memory access", "code": 500}}, status=500)
            work, told = self.work(asked, chat)
        except (ValueError, TypeError, KeyError, AttributeError, Refused) as error:
            return web.json_response({"error": {"message": f"{error}", "code": 400}}, status=400)
        if self.fault == "slow-tail" and self.random.random() < 1 / 5:
            await asyncio.sleep(2.0)
        self.engine.waiting.put_nowait(work)
        try:
            if asked.get("stream"):
                return await self.stream(request, asked, chat, work, told)
            tokens: list[Token] = []
            while isinstance(token := await told.get(), Token):
                tokens.append(token)
            return web.json_response(self.whole(asked, chat, work, tokens, token))
        finally:
            work.left = True

    def work(self, asked: dict, chat: bool) -> tuple[Work, asyncio.Queue]:
        tokenizer = self.model.tokenizer
        prompt = " ".join(turn["content"] for turn in asked["messages"]) if chat else asked["prompt"]
        tokens = (
            [tokenizer.end, *tokenizer.encode(prompt)] if isinstance(prompt, str) else [int(token) for token in prompt]
        )
        most = int(asked.get("max_completion_tokens") or asked.get("max_tokens") or 16)
        if (
            not tokens
            or len(tokens) + 1 > CONTEXT
            or most < 1
            or any(not 0 <= t < len(tokenizer.pieces) for t in tokens)
        ):
            raise Refused(f"the prompt has {len(tokens)} tokens; {CONTEXT - 1} are possible")
        if asked.get("n", 1) != 1 or (asked.get("stream") and asked.get("prompt_logprobs")):
            raise Refused("not supported: n, or prompt_logprobs with a stream")
        top = int(asked.get("top_logprobs") or 1) if chat and asked.get("logprobs") else int(asked.get("logprobs") or 0)
        score = int(asked.get("prompt_logprobs") or (top if asked.get("echo") else 0))
        loop, told = asyncio.get_running_loop(), asyncio.Queue()
        temperature = float(asked["temperature"]) if asked.get("temperature") is not None else 1.0
        work = Work(
            tokens,
            most,
            lambda item: loop.call_soon_threadsafe(told.put_nowait, item),
            temperature,
            asked.get("seed"),
            min(top, 20),
            min(score, 20),
        )
        return work, told

    def whole(self, asked: dict, chat: bool, work: Work, tokens: list[Token], why: str) -> dict:
        text = self.text(token.id for token in tokens)
        choice: dict = {"index": 0, "finish_reason": why, "logprobs": self.logprobs(asked, chat, work, tokens)}
        scores = [None, *map(self.place, work.scores)] if asked.get("prompt_logprobs") else None
        if chat:
            choice["message"] = {"role": "assistant", "content": text}
        else:
            choice["text"] = (self.text(work.prompt) if asked.get("echo") else "") + text
            choice["prompt_logprobs"] = scores
        return {
            **self.head(chat, False),
            "choices": [choice],
            "usage": self.usage(work, tokens),
            **({"prompt_logprobs": scores} if chat else {}),
        }

    async def stream(
        self, request: web.Request, asked: dict, chat: bool, work: Work, told: asyncio.Queue
    ) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        )
        await response.prepare(request)
        head, tokens = self.head(chat, True), []

        async def say(more: dict) -> None:
            await response.write(b"data: " + json.dumps({**head, **more}).encode() + b"\n\n")

        while True:
            token = await told.get()
            ended = not isinstance(token, Token)
            if not ended:
                tokens.append(token)
            text = "" if ended else self.text([token.id])
            choice = {
                "index": 0,
                "finish_reason": token if ended else None,
                "logprobs": None if ended else self.logprobs(asked, chat, work, [token]),
            }
            await say(
                {"choices": [choice | ({"delta": {"content": text} if text else {}} if chat else {"text": text})]}
            )
            if ended:
                break
        if (asked.get("stream_options") or {}).get("include_usage"):
            await say({"choices": [], "usage": self.usage(work, tokens)})
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    def head(self, chat: bool, stream: bool) -> dict:
        kind = ("chat.completion.chunk" if stream else "chat.completion") if chat else "text_completion"
        return {"id": f"cmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": self.name}

    def usage(self, work: Work, tokens: list[Token]) -> dict:
        counts = {"prompt_tokens": len(work.prompt), "completion_tokens": len(tokens)}
        return {**counts, "total_tokens": sum(counts.values())}

    def text(self, ids) -> str:
        return self.model.tokenizer.decode(ids)

    def place(self, token: Token) -> dict:
        """One entry of vLLM's prompt_logprobs: the token itself first, then the likeliest."""
        ranked = [(token.id, token.logprob), *(pair for pair in token.top if pair[0] != token.id)]
        ranks = {number: rank for rank, (number, _) in enumerate(token.top, 1)}
        return {
            str(n): {"logprob": value, "rank": ranks.get(n), "decoded_token": self.text([n])} for n, value in ranked
        }

    def logprobs(self, asked: dict, chat: bool, work: Work, tokens: list[Token]) -> dict | None:
        if not work.top:
            return None
        if chat:
            return {
                "content": [
                    {
                        "token": self.text([t.id]),
                        "logprob": t.logprob,
                        "top_logprobs": [{"token": self.text([n]), "logprob": x} for n, x in t.top],
                    }
                    for t in tokens
                ]
            }
        echoed = work.scores if asked.get("echo") else []
        begin = [None] if asked.get("echo") else []
        places = [*echoed, *tokens]
        return {
            "tokens": [*(self.text([work.prompt[0]]) for _ in begin), *(self.text([t.id]) for t in places)],
            "token_logprobs": [*begin, *(t.logprob for t in places)],
            "top_logprobs": [*begin, *({self.text([n]): x for n, x in t.top} for t in places)],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slots", type=int, default=8, help="requests that are worked on at once")
    parser.add_argument("--name", default="story", help="the model's name")
    parser.add_argument("--device", choices=["cpu", "cuda"], help="default: cuda where there is one")
    parser.add_argument("--fault", choices=FAULTS, help="; ".join(f"{name}: {what}" for name, what in FAULTS.items()))
    args = parser.parse_args()
    model = Model(args.slots, args.device, 1000.0 if args.fault == "rope-base" else 10000.0)
    engine = Engine(model, args.slots)
    engine.start()
    server = Server(model, engine, args.name, args.fault)
    app = web.Application()
    app.add_routes([
        web.get("/health", server.health), web.get("/v1/models", server.models),
        web.post("/v1/completions", server.answer), web.post("/v1/chat/completions", server.answer),
    ])  # fmt: skip
    print(f"story model on {model.device}, port {args.port}", flush=True)
    web.run_app(app, host="127.0.0.1", port=args.port, print=None, handler_cancellation=True, access_log=None)


if __name__ == "__main__":
    main()
