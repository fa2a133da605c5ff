"""Every pair of tests/cases/translate becomes what it says, once and for all, and nothing else is touched."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from anywarp.migrate import target as targets
from anywarp.migrate.translate import Options, Translation, translate
from migrate.translate.corpus import FOLDER, Pair, all_pairs
from migrate.translate.tokens import tokens

PAIRS = all_pairs()

LEAST = 300
"""So many pairs the corpus must hold."""

CPP = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".inl")


def run(pair: Pair, text: bytes) -> Translation:
    options = Options(
        target=targets.parse_target(pair.target, rocm=pair.rocm), launch=pair.launch, keep_cuda=pair.keep_cuda
    )
    return translate(text, PurePath(pair.file), options)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_pair_becomes_what_it_says(pair: Pair):
    done = run(pair, pair.before)
    assert done.text.decode() == pair.after.decode()
    assert tuple(sorted(finding.code for finding in done.diagnostics)) == pair.codes


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_translating_twice_changes_nothing(pair: Pair):
    assert run(pair, pair.after).text.decode() == pair.after.decode()


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.file.endswith(CPP)], ids=lambda pair: pair.name)
def test_tokens_outside_the_edits_stay(pair: Pair):
    edits = sorted(run(pair, pair.before).edits, key=lambda edit: (edit.start, edit.end))
    before, after = pair.before, b""
    kept = list[tuple[int, int, int]]()  # start, end, and how far it moved
    at = 0
    for edit in edits:
        assert at <= edit.start <= edit.end <= len(before), "edits overlap"
        kept.append((at, edit.start, len(after) - at))
        after += before[at : edit.start] + edit.replacement
        at = edit.end
    kept.append((at, len(before), len(after) - at))
    after += before[at:]
    assert after == pair.after
    new = {(start, end): spelling for start, end, spelling in tokens(after.decode("latin-1"))}
    for start, end, spelling in tokens(before.decode("latin-1")):
        for first, last, moved in kept:
            if first <= start and end <= last:
                assert new.get((start + moved, end + moved)) == spelling, f"{spelling} at {start} was glued or cut"


def test_the_corpus_is_large():
    assert len(PAIRS) >= LEAST


def test_every_pair_says_why_in_one_line():
    for pair in PAIRS:
        assert 15 <= len(pair.why) <= 160, f"{FOLDER / pair.name}: {pair.why!r}"
