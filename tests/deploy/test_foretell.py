"""What assess calls converted, convert changes, and the other way round: line by line, over every pair of the corpus."""

from pathlib import Path

from anywarp.deploy.convert.engine import convert
from anywarp.deploy.convert.model import Options
from anywarp.deploy.foretell import settled
from anywarp.migrate.assess import Plan, assess
from anywarp.migrate.kinds import kind_of
from anywarp.migrate.target import parse_target

CASES = Path(__file__).parents[1] / "cases" / "convert"
TARGET = parse_target("hip:gfx942", "7.1")


def tree(tmp_path):
    for case in sorted(CASES.glob("*/*.txt")):
        head, _, rest = case.read_text().partition("=== before\n")
        name = next(
            (line.partition(": ")[2] for line in head.splitlines() if line.startswith("file: ")), "deployment.yaml"
        )
        place = tmp_path / case.parent.name / case.stem / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(rest.partition("\n=== ")[0] + "\n")
    return tmp_path


def lines_of(done):
    return {
        line
        for c in done.changes
        for line in range(done.old.count(b"\n", 0, c.start) + 1, done.old.count(b"\n", 0, max(c.start, c.end - 1)) + 2)
    }


def test_converted_is_said_of_lines_that_change(tmp_path):
    result = assess(Plan([str(tree(tmp_path))], TARGET, keep=False))
    said = settled(result.findings, TARGET, result.places.get)
    assert len(said) == len(result.findings) > 300
    changed = {}
    for finding in said:
        if finding.verdict.answer != "converted" or kind_of(finding.use.subject) in ("cuda", "ptx", "build", "binary"):
            continue
        place = Path(result.places[finding.path])
        lines = changed.setdefault(place, lines_of(convert(place.read_bytes(), place, Options(TARGET))))
        assert finding.use.line in lines or (not finding.use.line and lines), (finding.path, finding.use)


def test_a_line_that_something_else_holds_back_is_for_a_person(tmp_path):
    (tmp_path / "prolog.sh").write_text("command -v nvidia-smi || exit 0\nn=$(nvidia-smi -L | wc -l)\n")
    result = assess(Plan([str(tmp_path)], TARGET, keep=False))
    before = {f.use.line: f.verdict.answer for f in result.findings}
    after = {f.use.line: f.verdict for f in settled(result.findings, TARGET, result.places.get)}
    assert before[1] == "converted"
    assert after[1].answer == "replace" and "line 2" in after[1].reason
    assert all("leaves it to a person" not in verdict.help for verdict in after.values())


def test_other_targets_and_files_inside_archives_stay_as_judged(tmp_path):
    (tmp_path / "a.sh").write_text("command -v nvidia-smi || exit 0\nnvidia-smi -L | wc -l\n")
    result = assess(Plan([str(tmp_path)], TARGET, keep=False))
    assert settled(result.findings, parse_target("cpu", "7.1"), result.places.get) == result.findings
    assert settled(result.findings, TARGET, lambda path: None) == result.findings
