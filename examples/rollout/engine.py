"""Generates for several requests at once: each step makes one token for every request that is on, and new ones join between steps."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from model import CONTEXT, Model


@dataclass
class Token:
    """A token, its log-probability and the likeliest ones at its place."""

    id: int
    logprob: float
    top: list[tuple[int, float]]


@dataclass
class Work:
    """One request. `tell` is called from the engine's thread with each new token, and at the end with why it ended."""

    prompt: list[int]
    most: int
    tell: Callable[[Token | str], None]
    temperature: float = 0.0
    seed: int | None = None
    top: int = 0
    score: int = 0
    """How many of the likeliest tokens are wanted at each place of the prompt."""
    left: bool = False
    """The caller has gone."""
    scores: list[Token] = field(default_factory=list)
    made: int = 0
    last: int = 0
    generator: torch.Generator | None = None


class Engine(threading.Thread):
    """Owns the model; other threads only put work in."""

    def __init__(self, model: Model, slots: int):
        super().__init__(name="engine", daemon=True)
        self.model, self.free = model, list(range(slots))
        self.waiting: queue.Queue[Work] = queue.Queue(1000)
        self.working: dict[int, Work] = {}

    def run(self) -> None:
        while True:
            while self.free and (not self.waiting.empty() or not self.working):
                self.begin(self.waiting.get())
            self.step()

    def begin(self, work: Work) -> None:
        slot = self.free.pop()
        logits = self.model.forward([work.prompt], [slot], [0])[0]
        if work.score:
            logprobs = logits.log_softmax(-1).cpu()
            work.scores = [token(row, after, work.score) for row, after in zip(logprobs, work.prompt[1:])]
        if work.temperature:
            work.generator = torch.Generator().manual_seed(work.seed if work.seed is not None else torch.seed() % 2**63)
        self.working[slot] = work
        self.add(slot, work, logits[-1].cpu())

    def step(self) -> None:
        for slot, work in list(self.working.items()):
            if work.left:
                self.end(slot, "abort")
        if not self.working:
            return
        slots = list(self.working)
        rows = [[self.working[slot].last] for slot in slots]
        starts = [len(self.working[slot].prompt) + self.working[slot].made - 1 for slot in slots]
        logits = self.model.forward(rows, slots, starts)[:, -1].cpu()
        for slot, row in zip(slots, logits):
            self.add(slot, self.working[slot], row)

    def add(self, slot: int, work: Work, logits: torch.Tensor) -> None:
        """Choose a token by the logits, and end the request behind its last one."""
        logprobs = logits.log_softmax(-1)
        chosen = int(logits.argmax())
        if work.generator is not None:
            chosen = int(torch.multinomial((logits / work.temperature).softmax(-1), 1, generator=work.generator))
        work.last, work.made = chosen, work.made + 1
        if chosen == self.model.tokenizer.end:
            self.end(slot, "stop")
            return
        work.tell(token(logprobs, chosen, work.top))
        if work.made >= work.most or len(work.prompt) + work.made >= CONTEXT:
            self.end(slot, "length")

    def end(self, slot: int, why: str) -> None:
        work = self.working.pop(slot)
        self.free.append(slot)
        work.tell(why)


def token(logprobs: torch.Tensor, chosen: int, top: int) -> Token:
    best = logprobs.topk(top) if top else None
    tops = list(zip(best.indices.tolist(), best.values.tolist())) if best else []
    return Token(chosen, float(logprobs[chosen]), tops)
