"""Assessing whole trees with a toy scanner and judge: what is found, counted, remembered and told."""

import os
import zipfile

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.assess import Assessment, Plan, assess
from anywarp.migrate.effort import Days, days_of
from anywarp.migrate.findings import Finding, Use, Verdict
from anywarp.migrate.scan import CONTAINERS, SCANNERS, doors
from anywarp.migrate.summary import fingerprints, new_findings, summarize
from anywarp.migrate.target import Target, parse_target
from anywarp.migrate.verdicts import JUDGES, judge_of, judges

TOY = "fakes.toy_scanner"


def plan(*paths, target="hip:gfx942", **more):
    options = {"scanners": (TOY,), "judges": (TOY,), "jobs": 2} | more
    return Plan([str(p) for p in paths], parse_target(target, "7.1"), **options)


def test_a_hostile_tree_is_assessed_with_a_problem_per_bad_file(tmp_path):
    root = tmp_path / "tree"
    (root / "loop").mkdir(parents=True)
    (root / "loop" / "up").symlink_to(root)
    os.mkfifo(root / "pipe.toy")
    (root / "quote'\"\n.toy").write_bytes(b"cudaQuote")
    with open(os.fsencode(root) + b"/\xff\x1b[2J.toy", "wb") as file:
        file.write(b"cudaByte \x1b[31m \xff\n")
    (root / "line.toy").write_bytes(b"x" * (5 << 20))
    (root / "junk.toy").write_bytes(os.urandom(50_000))
    (root / "dies.die").write_bytes(b"")
    with zipfile.ZipFile(root / "slip.zip", "w") as archive:
        archive.writestr("../../out.toy", b"cudaSlip")
    before = sorted(os.listdir(tmp_path))
    result = assess(plan(root, keep=False))
    assert {f.use.name for f in result.findings} == {"cudaQuote", "cudaByte", "cudaSlip"}
    assert sorted(p.code for p in result.problems) == ["M003", "M005", "M009"]
    everything = "".join(f.path + f.use.text for f in result.findings) + "".join(p.as_text() for p in result.problems)
    assert "\x1b" not in everything
    assert [f.path for f in result.findings if f.use.name == "cudaByte"] == [f"{root}/\\xff\\x1b[2J.toy"]
    assert [f.path for f in result.findings if f.use.name == "cudaSlip"] == [f"{root}/slip.zip!/../../out.toy"]
    assert (result.left_out.links, result.left_out.special) == (1, 1)
    assert sorted(os.listdir(tmp_path)) == before


def test_unchanged_files_are_not_read_again_and_are_judged_for_any_target(tmp_path):
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    for number in range(5):
        (root / f"{number}.toy").write_bytes(b"cudaA cudaNever cudaFact")
    first = assess(plan(root))
    assert first.remembered == 0 and len(first.findings) == 10
    again = assess(plan(root, target="cpu"))
    assert again.remembered == 5 and [f.use for f in again.findings] == [f.use for f in first.findings]
    (root / "3.toy").write_bytes(b"cudaNew")
    third = assess(plan(root))
    assert third.remembered == 4 and "cudaNew" in {f.use.name for f in third.findings}
    assert assess(plan(root, keep=False)).remembered == 0


def test_paths_are_shown_as_they_were_given_and_two_that_overlap_count_once(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.toy").write_bytes(b"cudaX")
    monkeypatch.chdir(tmp_path)
    for given, shown in ((".", "a/x.toy"), ("a", "a/x.toy"), ("./a/", "a/x.toy"), ("a/x.toy", "a/x.toy")):
        assert [f.path for f in assess(plan(given, keep=False)).findings] == [shown]
    assert len(assess(plan("a", ".", "a/x.toy", keep=False)).findings) == 1
    assert assess(plan(".", keep=False, exclude=("*.toy",))).findings == []


def test_a_path_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(AnywarpError) as caught:
        assess(plan(tmp_path / "nowhere"))
    assert caught.value.diagnostic.code == "M011"


def test_what_nobody_judges_is_counted_and_not_dropped(tmp_path):
    (tmp_path / "x.toy").write_bytes(b"cudaX cudaY")
    result = assess(plan(tmp_path, keep=False, judges=()))
    assert result.findings == [] and dict(result.unjudged) == {"toy.call": 2}


def finding(name, answer="no-path", effort="days", path="a.cu", count=1, reason="", help="", subject="cuda.api"):
    reason = reason or f"no {name}"
    use = Use(subject, name, 1, 1, "", (("count", str(count)),))
    return Finding(path, use, Verdict(answer, reason, "", effort, help))


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ([finding("a")], (1, 5)),
        ([finding("a", effort="none")], None),
        ([finding("a", count=11)], (1.2, 6)),
        ([finding("a"), finding("a", path="b.cu")], (1.1, 5.5)),
        ([finding("a"), finding("b")], (2, 10)),
        ([finding("a", reason="one"), finding("b", reason="one")], (1.2, 6)),
        ([finding("a", reason="hipA came with 10.0"), finding("b", reason="hipB came with 10.0")], (1.2, 6)),
        ([finding("a", count=10_000)], (4, 20)),
    ],
)
def test_work_is_counted_as_the_page_says(findings, expected):
    days = days_of(findings)
    if expected is None:
        assert days == {}
    else:
        assert (days["no-path"].low, days["no-path"].high) == pytest.approx(expected)


def test_a_rebuild_is_set_up_once_however_many_names_need_it():
    many = [finding(str(n), "rebuild", "hours", help="build with nvcc") for n in range(100)]
    assert days_of(many)["rebuild"] == Days(0.125, 1.0)


def test_ranges_are_said_in_few_words():
    assert [str(Days(*d)) for d in ((0, 0), (0.01, 0.3), (0.125, 1), (1.2, 6), (40.4, 99.6))] == [
        "none", "under half a day", "0.1 to 1.0 person-days", "1 to 6 person-days", "40 to 100 person-days",
    ]  # fmt: skip


def test_fingerprints_survive_moved_lines_and_tell_two_of_one_name_apart():
    one, two = finding("a"), finding("a")
    moved = Finding("a.cu", Use("cuda.api", "a", 99, 4, "other text"), one.verdict)
    names = fingerprints([one, two])
    assert names[0] != names[1] and fingerprints([moved]) == names[:1]
    assert fingerprints([finding("a", path="b.cu")])[0] not in names


def test_only_what_is_new_or_worse_than_the_baseline_is_new():
    old = [finding("a", "rebuild"), finding("b", "no-path"), finding("c", "replace")]
    baseline = {name: f.verdict.answer for name, f in zip(fingerprints(old), old)}
    now = [finding("a", "no-path"), finding("b", "no-path"), finding("c", "converted"), finding("d", "as-is")]
    assert new_findings(now, baseline) == [True, False, False, True]


def test_the_worst_comes_first_among_what_needs_a_person(tmp_path):
    (tmp_path / "x.toy").write_bytes(b"cudaA\ncudaNever\ncudaNever\n")
    summary = summarize(assess(plan(tmp_path, keep=False)))
    assert [(b.first.use.name, b.findings) for b in summary.blockers] == [("cudaNever", 2)]
    assert {s.answer: s.findings for s in summary.shares if s.findings} == {"converted": 1, "no-path": 2}


def test_every_scanner_and_judge_listed_exists_and_keeps_to_the_door():
    found = doors(SCANNERS, CONTAINERS)
    assert len(found.scanners) == len(SCANNERS) and len(found.containers) == len(CONTAINERS)
    known = judges(JUDGES)
    assert judge_of("cuda.api.deep", {"cuda": known["cuda"]}) is known["cuda"] and judge_of("cudax", known) is None
    unknown = Use("nobody.knows", "x")
    assert judge_of(unknown.subject, known) is None
    assert isinstance(parse_target("cpu"), Target)


def test_only_what_can_be_changed_is_proposed_for_changing():
    def commands(*findings, paths=("a b", "lib.whl"), target="hip:gfx942"):
        result = Assessment(Plan(list(paths), parse_target(target, "7.1")), list(findings))
        return summarize(result).next

    source = finding("cudaA", "converted", path="a b/x.cu")
    options = "--target hip:gfx942 --rocm 7.1"
    assert commands(source) == (f"anywarp translate 'a b' -o translated {options}",)
    config = finding("nvidia.com/gpu", "converted", path="a b/k.yaml", subject="k8s.resource")
    assert commands(source, config)[1:] == (f"anywarp convert 'a b' --diff {options}",)
    inside = finding("cudaA", "converted", path="lib.whl!/x.cu")
    binary = finding("sm_80", "converted", path="a b/x.so", subject="binary.fatbin")
    venv = finding("torch", "re-index", path="a b/lib/site-packages/t.py", subject="package")
    assert commands(inside, binary, venv) == ("anywarp run --device hip -- YOUR COMMAND",)
    assert commands(source, target="cpu") == ("anywarp run --device cpu -- YOUR COMMAND",)
    assert commands(finding("cudaA", "converted"), paths=(".",)) == (f"anywarp translate . -o translated {options}",)
    assert commands() == ()


def test_what_was_read_is_kept_when_a_run_is_broken_off(tmp_path):
    for number in range(300):
        (tmp_path / f"{number}.toy").write_bytes(b"cudaStopped%d" % number)

    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assess(plan(tmp_path), stop)
    assert 0 < assess(plan(tmp_path)).remembered <= 300


def test_what_is_held_of_all_files_is_bounded(tmp_path, monkeypatch):
    for number in range(4):
        (tmp_path / f"{number}.toy").write_bytes(b"cudaA " * 10)
    monkeypatch.setattr("anywarp.migrate.assess.MOST_USES", 25)
    result = assess(plan(tmp_path, keep=False))
    assert len(result.findings) == 20 and [p.code for p in result.problems] == ["M010", "M010"]
