"""A byte pair encoding of about seven hundred pieces, because a model this small cannot afford a large table.

A word keeps its leading space, so that joining the pieces gives the text back exactly.
"""

from __future__ import annotations

import collections
import itertools
import json
import pathlib
import re

WORDS = re.compile(r" ?[A-Za-z]+| ?[^A-Za-z\s]|\s")
END = "<end>"


class Tokenizer:
    def __init__(self, pieces: list[str], merges: list[tuple[str, str]]):
        self.pieces = pieces
        self.ids = {piece: number for number, piece in enumerate(pieces)}
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.end = self.ids[END]
        self.known: dict[str, list[int]] = {}

    @staticmethod
    def load(path: pathlib.Path) -> Tokenizer:
        data = json.loads(path.read_text())
        return Tokenizer(data["pieces"], [(a, b) for a, b in data["merges"]])

    def save(self, path: pathlib.Path) -> None:
        merges = [list(pair) for pair in self.ranks]
        path.write_text(json.dumps({"pieces": self.pieces, "merges": merges}, separators=(",", ":")) + "\n")

    def encode(self, text: str) -> list[int]:
        return [token for word in WORDS.findall(text) for token in self.encode_word(word)]

    def encode_word(self, word: str) -> list[int]:
        if word not in self.known:
            pieces = list(word)
            while (best := self.best_pair(pieces)) is not None:
                pieces = join_pair(pieces, best)
            self.known[word] = [self.ids[piece] for piece in pieces if piece in self.ids]
        return self.known[word]

    def best_pair(self, pieces: list[str]) -> tuple[str, str] | None:
        pairs = [pair for pair in itertools.pairwise(pieces) if pair in self.ranks]
        return min(pairs, key=self.ranks.__getitem__, default=None)

    def decode(self, tokens: list[int]) -> str:
        return "".join(self.pieces[token] for token in tokens if token != self.end)


def join_pair(pieces: list[str], pair: tuple[str, str]) -> list[str]:
    """Replace every occurrence of two neighbouring pieces by their concatenation."""
    joined: list[str] = []
    for piece in pieces:
        if joined and (joined[-1], piece) == pair:
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def train_tokenizer(texts: list[str], size: int) -> Tokenizer:
    """Merge the most frequent neighbours until there are `size` pieces, or until every word is one piece."""
    counts = collections.Counter(word for text in texts for word in WORDS.findall(text))
    split = {word: list(word) for word in counts}
    pieces = [END, *sorted({letter for word in counts for letter in word})]
    merges: list[tuple[str, str]] = []
    while len(pieces) < size:
        pairs: collections.Counter[tuple[str, str]] = collections.Counter()
        for word, parts in split.items():
            for pair in itertools.pairwise(parts):
                pairs[pair] += counts[word]
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        pieces.append("".join(best))
        split = {word: join_pair(parts, best) for word, parts in split.items()}
    return Tokenizer(pieces, merges)
