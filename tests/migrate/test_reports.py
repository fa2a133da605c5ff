"""The reports of an assessment: words, JSON, SARIF and HTML, with hostile texts in all of them."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

from anywarp.diagnostics import Diagnostic, Source
from anywarp.migrate.assess import Assessment, Plan
from anywarp.migrate.findings import ANSWERS, Finding, Use, Verdict
from anywarp.migrate.reach import Deployment
from anywarp.migrate.report import as_json, page, sarif, words
from anywarp.migrate.summary import fingerprints, read_baseline, summarize
from anywarp.migrate.target import parse_target

CASES = Path(__file__).resolve().parents[1] / "cases" / "assess"
SCHEMA = Path(as_json.__file__).with_name("assess.schema.json")
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'`${x}{{7*7}}"


def assessment(findings=None, paths=("tree",), target="hip:gfx942"):
    result = Assessment(Plan(list(paths), parse_target(target, "7.1")))
    result.findings = list(findings if findings is not None else sample())
    result.deployments = [
        Deployment("k8s:Deployment/llm", "k8s", "k.yaml", 3, ("img:1",)),
        Deployment("slurm:x", "slurm", "j", 1),
    ]
    result.problems = [Diagnostic("M002", f"tree/{EVIL}: it cannot be read", "error", Source(f"tree/{EVIL}", ""))]
    result.files, result.bytes, result.seconds = 12, 3_400_000, 0.5
    result.left_out.links = 2
    result.unjudged["odd.thing"] = 4
    return result


def sample():
    for number, answer in enumerate(ANSWERS):
        use = Use("cuda.api", f"cuda{answer}{EVIL}", 10 + number, 3, f"call({EVIL});", (("count", "3"),))
        effort = ["none", "minutes", "minutes", "hours", "days", "weeks"][number]
        verdict = Verdict(answer, f"because {EVIL}", f"hip{number}", effort, f"do {EVIL}")
        yield Finding(f"tree/a {number}#?%.cu", use, verdict, ("k8s:Deployment/llm",) if number % 2 else ())
    yield Finding("tree/w.whl!/x/lib.so", Use("binary.fatbin", "sm_80"), Verdict("rebuild", "SASS only", "", "hours"))
    yield Finding("/abs/ü.py", Use("torch.name", "torch.cuda", 1, 1), Verdict("as-is", "served"))


def test_json_follows_its_schema_and_holds_every_finding():
    result = assessment()
    report = json.loads(json.dumps(as_json.report(result, summarize(result))))
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert [f["answer"] for f in report["findings"]] == [f.verdict.answer for f in result.findings]
    assert report["findings"][5]["reaches"] == ["k8s:Deployment/llm"] and report["findings"][0]["places"] == 3
    assert report["summary"]["answers"]["no-path"] == {
        "findings": 1,
        "decisions": 1,
        "places": 3,
        "files": 1,
        "person_days": [5.2, 20.8],
    }
    assert report["deployments"][0] == {
        "id": "k8s:Deployment/llm", "path": "k.yaml", "line": 3, "images": ["img:1"], "worst": "no-path", "findings": 3,
        "person_days": [5.34, 21.9],
    }  # fmt: skip


def test_json_of_an_empty_tree_follows_the_schema():
    result = assessment([])
    jsonschema.validate(as_json.report(result, summarize(result), []), json.loads(SCHEMA.read_text()))


def test_a_baseline_is_a_json_report_and_nothing_else(tmp_path):
    result = assessment()
    (tmp_path / "b.json").write_text(json.dumps(as_json.report(result, summarize(result))))
    known = read_baseline(tmp_path / "b.json")
    assert known == dict(zip(fingerprints(result.findings), [f.verdict.answer for f in result.findings]))
    for text in ("", "[]", "{}", '{"format": "anywarp-assess", "findings": 3}', '{"format": "x"}', "[" * 100_000):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(Exception, match=r"M012|baseline"):
            read_baseline(tmp_path / "bad.json")


def test_sarif_follows_the_standard():
    result = assessment()
    log = json.loads(json.dumps(sarif.report(result, [True] * 8)))
    used = json.loads((CASES / "sarif-2.1.0-used.schema.json").read_text())
    jsonschema.validate(log, used, format_checker=jsonschema.FormatChecker())
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [r["level"] for r in run["results"]] == ["error", "warning", "warning", "warning", "note", "note"]
    for r in run["results"]:
        assert rules[r["ruleIndex"]]["id"] == r["ruleId"] and rules[r["ruleIndex"]]["help"]["text"]
        assert r["baselineState"] == "new" and re.fullmatch(
            "[0-9a-f]{32}", r["partialFingerprints"]["anywarpAssess/v1"]
        )
    first = run["results"][0]["locations"][0]["physicalLocation"]
    assert first["artifactLocation"]["uri"] == "tree/a%205%23%3F%25.cu" and first["region"]["startLine"] == 15
    (member,) = [r for r in run["results"] if r["ruleId"] == "binary.fatbin/rebuild"]
    assert member["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "tree/w.whl"}}
    assert member["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "x/lib.so", "kind": "member"}]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [(n["descriptor"]["id"], n["level"]) for n in notes] == [("M002", "error")]


def test_sarif_of_too_many_results_keeps_the_worst_and_says_so(monkeypatch):
    monkeypatch.setattr(sarif, "MOST_RESULTS", 3)
    (run,) = sarif.report(assessment())["runs"]
    assert [r["level"] for r in run["results"]] == ["error", "warning", "warning"]
    assert "3 further results" in run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"]


class Page(HTMLParser):
    """Collects tags, attributes and the texts of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.text, self._script = [], [], "", None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self._script = ""

    def handle_endtag(self, tag):
        if tag == "script":
            self.scripts.append(self._script)
            self._script = None

    def handle_data(self, data):
        if self._script is not None:
            self._script += data
        else:
            self.text += data


def test_html_is_one_page_that_loads_and_runs_nothing_else():
    result = assessment(paths=[EVIL])
    text = page.report(result, summarize(result))
    found = Page(text)
    assert not {tag for tag, _ in found.tags} & {"img", "link", "iframe", "object", "base"}
    assert not [
        a for _, attrs in found.tags for a in attrs if a.startswith("on") or a in ("src", "srcset", "xlink:href")
    ]
    assert {attrs["href"] for tag, attrs in found.tags if "href" in attrs} == {"#findings", "#not"}
    assert len(found.scripts) == 2
    policy = next(a["content"] for t, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(found.scripts[1].encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy and "default-src 'none'" in policy
    assert "49" not in re.sub(r"[\d,.]{3,}|\d+ %", "", found.text.split("Next")[0].split("alert(2)")[-1])[:40]
    for tag, attrs in found.tags:
        assert "${" not in json.dumps(attrs) or tag in ("svg", "title")


def test_html_carries_every_finding():
    result = assessment()
    data = json.loads(Page(page.report(result, summarize(result))).scripts[0])
    rows = [
        (
            data["paths"][r[0]],
            r[1],
            data["names"][r[2]][2],
            data["texts"][r[3]],
            *data["verdicts"][r[4]],
            data["reaches"][r[5]],
            r[6],
        )
        for r in data["rows"]
    ]
    assert rows == [
        (f.path, f.use.line, f.use.name, f.use.text, f.verdict.answer, f.verdict.reason, f.verdict.replacement, f.verdict.effort,
         f.verdict.help, list(f.reaches), int(f.use.detail("count", "1")))
        for f in result.findings
    ]  # fmt: skip


def test_html_shows_shares_kinds_deployments_and_what_is_not_covered():
    result = assessment()
    text = Page(page.report(result, summarize(result))).text
    for words_ in (
        "CUDA C++",
        "compiled libraries",
        "k8s:Deployment/llm",
        "odd.thing",
        "2 links were not followed",
        "no path yet",
    ):
        assert words_ in text
    ids = [a["id"] for _, a in Page(page.report(result, summarize(result))).tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_html_of_fifty_thousand_findings_stays_small():
    many = [
        Finding(
            f"src/dir{n % 97}/file{n % 4000}.cu",
            Use("cuda.api", f"cudaName{n % 300}", n, 1, f"call{n}(a, b);"),
            Verdict("converted", "counterpart"),
        )
        for n in range(50_000)
    ]
    result = assessment(many)
    assert len(page.report(result, summarize(result)).encode()) < 6_000_000


def test_html_of_an_empty_tree_says_so():
    result = assessment([])
    assert "Nothing was found that depends on CUDA." in Page(page.report(result, summarize(result))).text


def test_words_fit_a_screen_and_name_the_next_command():
    result = assessment()
    lines = words.text(result, summarize(result)).splitlines()
    assert len(lines) < 75 and max(map(len, lines)) <= 125
    assert lines[-2:] == ["next", "  anywarp translate tree -o translated --target hip:gfx942 --rocm 7.1"]
    assert any(line.split()[:4] == ["no", "path", "yet", "1"] for line in lines)
    assert any("k8s:Deployment/llm" in line and "no path yet" in line for line in lines)
