"""Processes that look into files: one that dies, hangs or eats memory over a file costs that file alone."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.facts import decode
from anywarp.migrate.reading import Order, look_into_all
from anywarp.migrate.tree import walk

TOY = ("fakes.toy_scanner",)


def ask(root, jobs=2, patience=30.0, scanners=TOY):
    files = list(walk(root))
    return {a.file.shown: a for a in look_into_all(files, Order(scanners, ("archives",), None, jobs, patience))}


def codes(answer):
    if answer.problem:
        return [answer.problem[1]]
    return [row[1] for row in decode(answer.facts).problems]


def test_a_file_that_kills_hangs_or_eats_costs_itself(tmp_path):
    for number in range(40):
        (tmp_path / f"ok{number}.toy").write_bytes(b"cudaA%d" % number)
    for name in ("b.die", "c.abort", "d.hang", "e.eat", "f.raise", "g.many"):
        (tmp_path / name).write_bytes(b"x")
    answers = ask(tmp_path, patience=2.0)
    assert len(answers) == 46
    found = {name: codes(answer) for name, answer in answers.items() if codes(answer)}
    assert found == {
        "b.die": ["M005"],
        "c.abort": ["M005"],
        "d.hang": ["M006"],
        "e.eat": ["M004"],
        "f.raise": ["M004"],
        "g.many": ["M010"],
    }
    assert len(decode(answers["g.many"].facts).uses) == 20_000
    for number in range(40):
        assert decode(answers[f"ok{number}.toy"].facts).uses[0][2] == f"cudaA{number}"


def test_paths_and_answers_longer_than_a_pipe_holds_do_not_stop_the_work(tmp_path):
    deep = tmp_path
    for _ in range(14):
        deep = deep / ("\udcff" * 200)
    deep.mkdir(parents=True)
    words = random.Random(3)
    for number in range(60):
        (deep / f"{number}.toy").write_bytes(b" ".join(b"cuda%x" % words.getrandbits(64) for _ in range(1000)))
    answers = ask(tmp_path, jobs=1)
    assert len(answers) == 60 and all(len(decode(a.facts).uses) == 1000 for a in answers.values())


def test_a_file_that_vanishes_or_cannot_be_read_is_a_problem_of_its_own(tmp_path):
    (tmp_path / "a.toy").write_bytes(b"cudaA")
    (tmp_path / "b.toy").write_bytes(b"cudaB")
    files = list(walk(tmp_path))
    (tmp_path / "a.toy").unlink()
    answers = {a.file.shown: a for a in look_into_all(files, Order(TOY, (), None, 1))}
    assert codes(answers["a.toy"]) == ["M002"] and not codes(answers["b.toy"])


def test_scanners_that_cannot_be_imported_are_an_error_with_the_reason(tmp_path):
    (tmp_path / "a.toy").write_bytes(b"cudaA")
    with pytest.raises(AnywarpError) as caught:
        ask(tmp_path, scanners=("fakes.no_such_scanner",))
    assert "no_such_scanner" in caught.value.diagnostic.help


def test_no_worker_outlives_the_process_that_started_it(tmp_path):
    (tmp_path / "a.hang").write_bytes(b"x")
    code = (
        "import sys; from anywarp.migrate.crew import Work, _Crew; from anywarp.migrate.tree import walk\n"
        "crew = _Crew(list(walk(sys.argv[1])), Work('fakes.toy_work:begin', None))\n"
        "while not crew._workers[0].tasks: crew.wait()\n"
        "print(crew._workers[0].process.pid, flush=True)\n"
        "while True: crew.wait()\n"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )
    worker = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    for _ in range(100):
        stat = Path(f"/proc/{worker}/stat")
        if not stat.exists() or b") Z" in stat.read_bytes():
            return
        time.sleep(0.05)
    raise AssertionError("the worker still runs")


def test_modules_among_the_files_are_not_ours(tmp_path):
    for name in ("json", "numpy", "zlib", "anywarp", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of the program')\n")
    (tmp_path / "a.toy").write_bytes(b"cudaA1")
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from anywarp.migrate.reading import Order, look_into_all\n"
        "from anywarp.migrate.tree import walk\n"
        "for a in look_into_all(list(walk('.')), Order(('fakes.toy_scanner',), ('archives',), None, 1, 30.0)): print(a.file.shown, a.problem)\n"
    )
    tests = str(Path(__file__).resolve().parents[1])
    command = [sys.executable, "-I", "-c", code, tests]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "a.toy None" in done.stdout.splitlines()
