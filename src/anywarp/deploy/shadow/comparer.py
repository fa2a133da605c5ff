"""The process behind the relay: reads exchanges from its standard input, replays what is sampled, compares, writes observations.

It ends when its input does. `python -m anywarp.deploy.shadow.comparer` is started by the relay (`hand.py`).
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import random
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from anywarp.deploy.rollout.observations import LOOKS_LIKE, Observation, Side, Writer, now
from anywarp.deploy.shadow import openai, tensors
from anywarp.deploy.shadow.budget import Budget
from anywarp.deploy.shadow.exchange import BEGIN, Seen, lengths_of_frame
from anywarp.deploy.shadow.framing import Head
from anywarp.deploy.shadow.message import Unreadable, read_message
from anywarp.deploy.shadow.openai import Answer, Json, NotComparable, WrongContent
from anywarp.deploy.shadow.options import Options, Server
from anywarp.deploy.shadow.replay import MOST, Reply, Sender
from anywarp.deploy.shadow.scoring import Comparison, compare_answers, compare_score_alone, compare_scores

if TYPE_CHECKING:
    import aiohttp

WAITING = 64
"""Exchanges that wait for their replay; what comes on top is dropped and counted."""
AT_ONCE = 4, 32
"""Replays at the same time: at least, and at most where the budget has seconds for more in each second."""
SEARCHES = 20
"""Answers of tensors whose cause is searched for; by then it is known or will not be."""
FORMS = ("vllm", "echo")
ENDING = 10.0
"""Seconds that replays have to end in when the relay has ended."""


@dataclasses.dataclass(frozen=True)
class Caller:
    """A sampled exchange that can be compared."""

    seen: Seen
    base: Observation
    head: Head
    given: Json
    body: bytes
    """The answer's."""
    answer: Answer | None
    """None for protocol v2."""


class Comparer:
    """Takes exchanges and writes observations."""

    def __init__(self, options: Options, writer: Writer, session: aiohttp.ClientSession) -> None:
        """Compare as the options say."""
        self._options, self._writer = options, writer
        self._sender = Sender(session, options.rollout, options.timeout)
        self._budget = Budget(options.gpu_seconds_per_minute)
        self._random = random.Random()
        self._costs = {s.name: s.cost_per_second for s in (*options.source, *options.target)}
        self._waiting: asyncio.Queue[Caller] = asyncio.Queue(WAITING)
        self._searches = 0
        self._forms: dict[str, str] = {}
        """By server: in which form it scores, empty where in none."""

    def take(self, seen: Seen) -> None:
        """Write what the caller's side did, and have the exchange replayed where that is wanted and possible."""
        if seen.side not in ("source", "target"):
            self.count(seen.stage, "not comparable: nobody said which side answered")
            return
        caller: Caller | None = None
        why = ""
        prompt_tokens, answer_tokens = openai.usage_at_the_end(seen.answer[-2048:])
        base = self._base(seen, seen.side, prompt_tokens, answer_tokens)
        if seen.sampled:
            try:
                caller = self._read(seen, base)
            except (NotComparable, Unreadable) as reason:
                why = f"not comparable: {reason}"
            except WrongContent as reason:
                base = dataclasses.replace(base, error=base.error or str(reason))
        if caller is not None:
            base = caller.base
        self._writer.put(base)
        if why:
            self.count(seen.stage, why)
        if caller is not None:
            try:
                self._waiting.put_nowait(caller)
            except asyncio.QueueFull:
                self.count(seen.stage, "dropped: queue")

    def count(self, stage: str, name: str, by: int = 1) -> None:
        """Count something."""
        self._writer.count(self._options.rollout, stage, name[:100], by)

    async def work(self) -> None:
        """Replay what waits, one after the other, until cancelled."""
        while True:
            caller = await self._waiting.get()
            try:
                await self._compare(caller)
            except Exception as error:  # one exchange must not end all: it is counted, and said in the log
                self.count(caller.seen.stage, f"failed: {type(error).__name__}")
                print(f"anywarp: comparing failed: {error!r}", file=sys.stderr)
            finally:
                self._waiting.task_done()

    async def finish(self) -> None:
        """Wait until nothing waits any more."""
        await self._waiting.join()

    def _base(self, seen: Seen, side: Side, prompt_tokens: int | None, answer_tokens: int | None) -> Observation:
        if answer_tokens is None and seen.events > 1:
            answer_tokens = seen.events - 1  # an event each, and one that says that it is over
        tokens = prompt_tokens if prompt_tokens is not None else seen.request_bytes // 4
        total = seen.total_ms
        return Observation(
            rollout=self._options.rollout, stage=seen.stage, side=side, exchange=seen.name, time=seen.wall, member=seen.member,
            route=seen.path, length=self._options.length_class(tokens), status=seen.status, error=seen.error,
            first_ms=seen.first_ms, total_ms=total, tokens_in=prompt_tokens, tokens_out=answer_tokens, cost=self._cost(seen.member, total),
        )  # fmt: skip

    def _cost(self, member: str, total_ms: float | None) -> float | None:
        rate = self._costs.get(member)
        return rate * total_ms / 1000 if rate and total_ms is not None else None

    def _read(self, seen: Seen, base: Observation) -> Caller:
        """Return what is needed to replay and compare; NotComparable, Unreadable or WrongContent else."""
        if seen.not_kept:
            raise NotComparable(seen.not_kept)
        if seen.status != 200 or seen.error:
            raise NotComparable("not answered well")
        head, body = read_message(seen.request, requests=True)
        answered, content = read_message(seen.answer, requests=False, method=seen.method)
        base = dataclasses.replace(
            base,
            digest=hashlib.sha256(body).hexdigest(),
            prompt=body.decode("utf-8", "replace") if self._options.store_prompts else None,
        )
        if tensors.PATH.fullmatch(seen.path):
            given = tensors.read_infer_request(body, bool(head.get("inference-header-content-length")))
            return Caller(seen, base, head, given, content, None)
        if seen.path not in openai.PATHS:
            raise NotComparable("another interface")
        given = openai.read_request(seen.path, body, self._options.model)
        answer = openai.read_answer(answered.get("content-type"), content)
        tokens_in, tokens_out = answer.prompt_tokens, answer.completion_tokens
        if tokens_in is not None:
            base = dataclasses.replace(base, tokens_in=tokens_in, length=self._options.length_class(tokens_in))
        if tokens_out is not None:
            base = dataclasses.replace(base, tokens_out=tokens_out)
        return Caller(seen, base, head, given, content, answer)

    async def _compare(self, caller: Caller) -> None:
        seen, options = caller.seen, self._options
        other = options.target if seen.side == "source" else options.source
        own = options.source if seen.side == "source" else options.target
        pool = own if self._random.random() < options.noise else other
        expected = min((seen.total_ms or 0) / 1000 + 0.01, options.timeout)
        if not pool or not self._budget.reserve(expected):
            self.count(seen.stage, "dropped: budget" if pool else "not comparable: no other pool")
            return
        server = self._random.choice(pool)
        reply = await self._sender.send(server, seen.path, caller.head, openai.replay_of(caller.given))
        spent = reply.ended - reply.began
        comparison, error, answer = Comparison("none", 0), reply.error, None
        if reply.good:
            try:
                if caller.answer is None:
                    comparison = tensors.compare_outputs(caller.body, reply.body)
                else:
                    answer = openai.read_answer(reply.content_type, reply.body)
                    comparison, more = await self._compare_texts(caller, caller.answer, answer, server, own)
                    spent += more
            except (WrongContent, NotComparable) as reason:
                error = str(reason)
        self._budget.settle(expected, spent)
        self._writer.put(self._shadow(caller, server, reply, answer, comparison, error))
        self.count(seen.stage, "replayed")
        if caller.answer is None and comparison.divergence is not None and pool is other:
            await self._look_for_cause(caller, reply)

    async def _look_for_cause(self, caller: Caller, reply: Reply) -> None:
        """Count what the first answers of tensors that part look like, beside what is counted of a stage."""
        if self._searches < SEARCHES:
            self._searches += 1
            found = await asyncio.to_thread(tensors.likely_cause, caller.body, reply.body)
            self.count(caller.seen.stage, f"{LOOKS_LIKE}{found or 'no cause that is known'}")

    def _shadow(
        self,
        caller: Caller,
        server: Server,
        reply: Reply,
        answer: Answer | None,
        comparison: Comparison,
        error: str | None,
    ) -> Observation:
        return dataclasses.replace(
            caller.base, side="shadow", time=now(), member=server.name, status=reply.status, error=error,
            first_ms=reply.first_ms, total_ms=reply.total_ms, cost=self._cost(server.name, reply.total_ms),
            tokens_in=answer.prompt_tokens if answer else None, tokens_out=answer.completion_tokens if answer else None,
            **dataclasses.asdict(comparison),
        )  # fmt: skip

    async def _compare_texts(
        self, caller: Caller, answer: Answer, replayed: Answer, server: Server, own: tuple[Server, ...]
    ) -> tuple[Comparison, float]:
        """Compare along the caller's text where the server scores, else up to the first difference; also return the seconds that it took."""
        certain = caller.given.get("temperature") == 0
        free = compare_answers(answer, replayed)
        scores, spent = await self._scores(caller, answer, server)
        if scores is None:
            if not certain:
                return Comparison("none", 0), spent
            return free, spent
        reference = next((s for s in own if s.name == caller.seen.member), own[0] if own else None)
        own_scores, more = await self._scores(caller, answer, reference) if reference is not None else (None, 0.0)
        spent += more
        prompt_tokens = answer.prompt_tokens if answer.prompt_tokens is not None else replayed.prompt_tokens
        made = replayed if certain else None
        if own_scores is not None:
            return compare_scores(own_scores, scores, prompt_tokens, answer, made), spent
        if certain:
            return compare_score_alone(scores, prompt_tokens, answer, made), spent
        return Comparison("none", 0), spent

    async def _scores(self, caller: Caller, answer: Answer, server: Server) -> tuple[list[openai.Place] | None, float]:
        """Return how a server scores the answer, None where it does not, and the seconds that it took."""
        path, spent = caller.seen.path, 0.0
        for form in FORMS if server.name not in self._forms else (self._forms[server.name],):
            asked = openai.scoring_request(path, caller.given, answer, form) if form else None
            if asked is None:
                continue
            reply = await self._sender.send(server, path, caller.head, asked, 4 * MOST)
            spent += reply.ended - reply.began
            if reply.error:
                self.count(caller.seen.stage, f"not scored by {server.name}: {reply.error.partition(':')[0]}")
                return None, spent
            scores = openai.read_scores(reply.body, form) if reply.status == 200 else None
            if scores is not None:
                self._forms[server.name] = form
                return scores, spent
            if reply.status is not None and reply.status >= 500:
                return None, spent
        return None, spent


async def _run() -> int:
    try:
        import aiohttp
    except ImportError:
        print("anywarp: replaying needs aiohttp: pip install anywarp[rollout]", file=sys.stderr)
        return 2
    reader = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    _, text, _ = await _frame(reader) or ("", b"", b"")
    if not text:
        return 0
    options = Options.read(text.decode())
    writer = Writer(Path(options.database))
    # No connection is used twice: a server may close an idle one at any time, which would look like an error of its own.
    at_once = min(max(AT_ONCE[0], round(options.gpu_seconds_per_minute / 60)), AT_ONCE[1])
    connector = aiohttp.TCPConnector(limit=at_once * 2, force_close=True)
    async with aiohttp.ClientSession(
        connector=connector, auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        comparer = Comparer(options, writer, session)
        workers = [asyncio.create_task(comparer.work()) for _ in range(at_once)]
        while (frame := await _frame(reader)) is not None:
            _take(comparer, *frame)
        try:
            await asyncio.wait_for(comparer.finish(), ENDING)
        except asyncio.TimeoutError:
            comparer.count("", "dropped: the end")
        for worker in workers:
            worker.cancel()
    return 0 if writer.close() else 1


def _take(comparer: Comparer, told: str, request: bytes, answer: bytes) -> None:
    given = openai.read_json(told.encode(), ValueError("a frame that is not ours"))
    if "counts" in given:
        for stage, name, count in given["counts"]:
            comparer.count(str(stage), str(name), int(count))
        return
    comparer.take(Seen(**given, request=request, answer=answer))


async def _frame(reader: asyncio.StreamReader) -> tuple[str, bytes, bytes] | None:
    """Return the next frame, None at the end, also where the relay died in the middle of one."""
    try:
        told, request, answer = lengths_of_frame(await reader.readexactly(BEGIN))
        return (
            (await reader.readexactly(told)).decode(),
            await reader.readexactly(request),
            await reader.readexactly(answer),
        )
    except asyncio.IncompleteReadError:
        return None


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.exit(asyncio.run(_run()))
