"""Callers for a rehearsal: a bounded number of them ask for stories, for a bounded time, and hold every answer against the right one.

`python load.py http://127.0.0.1:8080 --check http://127.0.0.1:8001 --seconds 60` asks the second address first what is right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import time
from collections import Counter

import aiohttp
from model import STORY

sys.path.insert(0, str(STORY))
from corpus import write_story

TOKENS = 8
"""Length of an answer."""
PAUSE = 0.1
"""Seconds between two requests of a caller, on average: callers without pauses would all wait for one another."""


def prompts(count: int) -> list[str]:
    """Beginnings of stories, short and long."""
    rng = random.Random(7)
    stories = [write_story(rng) for _ in range(count)]
    return [" ".join(story.split()[: rng.choice([8, 12, 40, 60])]) for story in stories]


async def ask(session: aiohttp.ClientSession, url: str, prompt: str, stream: bool, conversation: str) -> str:
    """Return the answer's text; raises for anything but a whole answer."""
    body = {"model": "story", "prompt": prompt, "max_tokens": TOKENS, "temperature": 0, "stream": stream}
    if stream:
        body["stream_options"] = {"include_usage": True}
    headers = {"x-conversation-id": conversation}
    async with session.post(f"{url}/v1/completions", json=body, headers=headers) as answer:
        data = await answer.read()
        if answer.status != 200:
            raise aiohttp.ClientError(f"status {answer.status}")
    if not stream:
        return json.loads(data)["choices"][0]["text"]
    events = [line[6:] for line in data.split(b"\n") if line.startswith(b"data: ")]
    if not events or events[-1] != b"[DONE]":
        raise aiohttp.ClientError("a stream without its end")
    return "".join(choice.get("text", "") for event in events[:-1] for choice in json.loads(event)["choices"])


async def run(url: str, check: str, seconds: float, callers: int, most: int) -> Counter[str]:
    """Ask until the time is over or the number reached; returns counts of `right`, `wrong` and `lost`."""
    seen: Counter[str] = Counter()
    texts = prompts(60)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as session:
        right = {text: await ask(session, check, text, False, "check") for text in texts}
        end = time.monotonic() + seconds
        print(f"asking {url}", flush=True)

        async def caller(name: int) -> None:
            rng = random.Random(name)
            while time.monotonic() < end and not ended.is_set() and seen.total() < most:
                conversation = f"{name}-{rng.randrange(1 << 30)}"
                for _ in range(rng.choice([1, 1, 2, 3])):
                    text = rng.choice(texts)
                    await asyncio.sleep(rng.expovariate(1 / PAUSE))
                    try:
                        got = await ask(session, url, text, rng.random() < 0.5, conversation)
                        seen["right" if got == right[text] else "wrong"] += 1
                    except (aiohttp.ClientError, asyncio.TimeoutError, ValueError) as error:
                        seen["lost"] += 1
                        print(f"lost: {error!r}", flush=True)

        await asyncio.gather(*(caller(n) for n in range(callers)))
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="whom to ask; only this machine's own addresses")
    parser.add_argument("--check", required=True, help="a server whose answers are right")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--callers", type=int, default=8)
    parser.add_argument("--most", type=int, default=20_000, help="requests after which it ends in any case")
    args = parser.parse_args()
    if not all(url.startswith("http://127.0.0.1:") for url in (args.url, args.check)):
        sys.exit("only http://127.0.0.1:PORT is asked")
    seen = asyncio.run(run(args.url, args.check, min(args.seconds, 3600), min(args.callers, 64), args.most))
    print(json.dumps({name: seen[name] for name in ("right", "wrong", "lost")}))


if __name__ == "__main__":
    main()
