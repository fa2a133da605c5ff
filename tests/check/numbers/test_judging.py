"""The verdict over layers, as JSON by its schema, and as a page."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from anywarp.check.numbers import as_json, page
from anywarp.check.numbers.comparing import compare
from anywarp.check.numbers.judging import judge, named
from anywarp.check.numbers.language import compare_logits
from anywarp.check.numbers.results import Comparison, Fingerprint, Layer
from anywarp.numerics.operation import Operation

SCHEMA = json.loads(Path(as_json.__file__).with_name("verify.schema.json").read_text())
GOOD = Comparison("pass", "within the sharp bound", "sharp", "float32", (2, 2), 4, relative=0.1)
DOUBTFUL = replace(GOOD, grade="warn", reason="3 times the bound", relative=3.0)
SCALE = Fingerprint("scale", "a factor of 2", 0.96, "head 3")
BAD = replace(GOOD, grade="fail", reason="far off", relative=1e4, fingerprints=(SCALE,))


def layers(*pairs):
    return [Layer(f"layers.{n}", isolated=i, propagated=p) for n, (i, p) in enumerate(pairs)]


def test_the_first_layer_that_fails_by_itself_decides():
    found = judge(layers((GOOD, GOOD), (DOUBTFUL, BAD), (BAD, BAD), (BAD, BAD)))
    assert (found.grade, found.first.name, found.cause) == ("fail", "layers.2", SCALE)


def test_all_right_is_right_and_nothing_is_not():
    assert judge(layers((GOOD, GOOD), (GOOD, None), (None, GOOD))).grade == "pass"
    assert judge([]).grade == "fail" and judge([Layer("a", note="it was not called")]).grade == "fail"
    assert judge(layers((GOOD, GOOD), (DOUBTFUL, GOOD))).grade == "warn"


def test_other_weights_come_before_all_else():
    found = judge([Layer("a", isolated=GOOD), Layer("b", isolated=BAD, weights=False)])
    assert found.cause.name == "other-weights" and found.first.name == "b"


def test_growth_with_depth_alone_is_doubtful_and_named():
    grown = [
        replace(GOOD, relative=0.9 * 1.8**n, grade="pass" if n < 1 else "warn" if n < 5 else "fail") for n in range(8)
    ]
    found = judge(layers(*[(GOOD, each) for each in grown]))
    assert (found.grade, found.cause.name, found.first.name) == ("warn", "accumulated", "layers.5")


def test_what_appears_between_layers_that_are_right_fails():
    found = judge(layers((GOOD, GOOD), (GOOD, GOOD), (GOOD, BAD)))
    assert found.grade == "fail" and "layers.2" in found.reason and "after layers.1" in found.reason


def test_offline_the_first_within_the_whole_decides():
    found = judge(layers((None, GOOD), (None, BAD), (None, BAD)))
    assert (found.grade, found.first.name, found.cause) == ("fail", "layers.1", SCALE)


def test_right_at_first_and_wrong_ever_after_is_a_stale_cache():
    plain = replace(BAD, fingerprints=())
    calls = [Layer("attention", call, isolated=GOOD if call < 2 else plain) for call in range(5)]
    found = judge(calls)
    assert (
        found.cause.name == "stale-cache"
        and "call 2" in found.cause.place
        and named(found.first) == "attention, call 2"
    )


def test_the_language_models_figures_count():
    logits = np.random.default_rng(0).standard_normal((50, 20)) * 3
    off = compare_logits(logits, np.roll(logits, 1, axis=1))
    assert off.grade == "fail"
    found = judge(layers((GOOD, GOOD)), language=off.as_json())
    assert found.grade == "fail" and "language model" in found.reason
    assert judge([], language=compare_logits(logits, logits).as_json()).grade == "pass"


def full_report():
    rng = np.random.default_rng(0)
    r = rng.standard_normal((4, 8, 64)).astype(np.float32)
    o = r.copy()
    o[..., 8:16] *= 2
    bad = r.copy()
    bad[0, 0, 0] = np.nan
    op = Operation("attention", 8, heads=8)
    made = [
        Layer("plain", operation=op, isolated=compare(r, r, op), propagated=compare(r, r, op, depth=1)),
        Layer("head", 1, "out.1", op, compare(r, o, op, magnitude=np.abs(r) + 1), None, note="a note"),
        Layer("not a number", operation=op, isolated=compare(r, bad, op)),
        Layer("shape", operation=op, isolated=compare(r, r[:2], op)),
        Layer("copy", operation=Operation("copy"), isolated=compare(r, r + 1, Operation("copy"))),
        Layer("missing", note="it was not called on the target"),
        Layer("<script>alert(1)</script>", operation=op, propagated=DOUBTFUL),
    ]
    logits = rng.standard_normal((30, 9))
    apart = logits.copy()
    apart[3, 3] = np.nan
    said = compare_logits(logits, apart, np.zeros(30, int)).as_json()
    return judge(made, language=said, about={"command": 'python "x" <y>', "model": ""}, notes=["a note & more"])


def test_json_follows_its_schema_and_has_no_nan():
    said = json.loads(json.dumps(as_json.report(full_report()), allow_nan=False))
    jsonschema.validate(said, SCHEMA)
    assert said["counts"] == {"pass": 1, "warn": 1, "fail": 4} and said["first"] == "head (out.1), call 1"
    assert said["cause"]["name"] == "scale" and said["cause"]["means"] and said["layers"][5]["grade"] is None
    assert said["language"]["kl_largest"] is None and said["language"]["unlike"] == 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(said | {"grade": "fine"}, SCHEMA)
    jsonschema.validate(as_json.report(judge([])), SCHEMA)


class Reader(HTMLParser):
    """What an accessible page of one file must have."""

    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.links, self.images, self.open = [], set(), [], [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)
        self.ids.add(given.get("id"))
        if tag == "a":
            self.links.append(given.get("href"))
        if tag == "svg":
            self.images.append(given)
        assert not {"src", "onclick", "onload", "srcset"} & given.keys()

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(text):
    reader = Reader()
    reader.feed(text)
    assert not reader.open
    return reader


def test_the_page_is_well_formed_escaped_accessible_and_needs_no_network():
    text = page.page(full_report())
    found = read(text)
    assert all(link.startswith("#") and link[1:] in found.ids for link in found.links)
    assert len(found.images) == 2 and all(
        image["role"] == "img" and "largest is" in image["aria-label"] for image in found.images
    )
    assert (
        "&lt;script&gt;alert(1)" in text and "<script>alert(1)" not in text and "python &#34;x&#34; &lt;y&gt;" in text
    )
    assert not re.search(r"https?://|url\(|@import", text)
    assert (
        "It does not compute the same" in text and "a factor is wrong" in text and "prefers-color-scheme: dark" in text
    )


def test_pages_of_nothing_and_of_very_many_layers():
    assert "No place was compared" in page.page(judge([]))
    many = layers(*[(GOOD if n != 4321 else BAD, GOOD) for n in range(6000)])
    text = page.page(judge(many))
    found = read(text)
    assert (
        "layers.4321" in text
        and text.count('class="dot isolated') == 2 * 1000
        and "4,000 places that are right are left out" in text
    )
    assert len(text) < 4_000_000
    dot = re.search(r'class="dot isolated first" d="M([\d.]+) ([\d.-]+)v', text)
    assert float(dot[1]) == pytest.approx(1000 * 4321 / 6000, abs=2)
    assert found.tags.count("details") == 1
