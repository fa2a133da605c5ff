"""One child pytest for all tests of this folder, so that they can run beside tests that must not share a process with torch.

The stand-in brings our driver into the process, set up for torch; tests of the driver want it for themselves, and a crash would
end them all. So when pytest is asked for more than this folder, a child pytest collects and runs it, and reports each test here.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ENDS = "ANYWARP_TESTS_PIPES"
"""In the child's environment: the ends of two pipes, `reads,writes`."""


IN_CHILD = {"filterwarnings", "parametrize", "skip", "skipif", "spread", "timeout", "usefixtures", "xfail"}
"""Markers that do their work in the child; the others only choose tests, here."""


class Child:
    """The child process; lines of JSON go both ways. It is started again when it has died."""

    def __init__(self):
        self.process = None
        self.tests = {}  # by file: (test, markers) in order
        self.broken = {}  # by file: why it could not be collected
        self.reports = {}  # by test: what the child said

    def collect(self):
        """Start it and read what it has collected."""
        self.stop()
        self.output = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the child
        reads, self.to_child = os.pipe()
        from_child, writes = os.pipe()
        command = [sys.executable, "-m", "pytest", str(HERE), "-q", "-p", "no:cacheprovider", "-m", ""]
        environment = {**os.environ, ENDS: f"{reads},{writes}"}
        self.process = subprocess.Popen(
            command, env=environment, pass_fds=(reads, writes), stdout=self.output, stderr=subprocess.STDOUT
        )
        os.close(reads)
        os.close(writes)
        self.lines = open(from_child, encoding="utf-8")  # noqa: SIM115
        found = self.read()
        assert found is not None, f"the child ended while it collected:\n{self.ending()}"
        self.tests, self.broken = found["tests"], found["broken"]

    def read(self):
        """Return the next line, None when the child has ended."""
        line = self.lines.readline()
        return json.loads(line) if line else None

    def ending(self):
        """Return how it ended: the exit code and the last words."""
        status = self.process.wait()
        self.output.seek(0)
        return f"exit code {status}\n{self.output.read()[-4000:]}"

    def select(self, tests):
        """Let it run these tests, in its own order."""
        os.write(self.to_child, (json.dumps(tests) + "\n").encode())
        os.close(self.to_child)

    def stop(self):
        """End it, if it runs."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.lines.close()
            self.output.close()


CHILD = Child()


class ForwardedFile(pytest.Module):
    """A test file whose tests are those that the child has found in it."""

    def collect(self):
        if CHILD.process is None:
            CHILD.collect()
        name = self.path.name
        if name in CHILD.broken:
            raise self.CollectError(CHILD.broken[name])
        for test, markers in CHILD.tests.get(name, []):
            item = ForwardedTest.from_parent(self, name=test)
            for marker in markers:
                item.add_marker(marker)
            yield item


class ForwardedTest(pytest.Item):
    """One test that the child runs."""

    selected = None

    def where(self):
        return f"{self.path.name}::{self.name}"

    def runtest(self):
        if ForwardedTest.selected is None:
            ForwardedTest.selected = [each.where() for each in self.session.items if isinstance(each, ForwardedTest)]
            CHILD.select(ForwardedTest.selected)
        while self.where() not in CHILD.reports and (report := CHILD.read()) is not None:
            CHILD.reports[report["test"]] = report  # in the child's order, which need not be ours
        if self.where() in CHILD.reports:
            return self.pass_on(CHILD.reports[self.where()])
        ending = CHILD.ending()
        rest = [each for each in ForwardedTest.selected if each != self.where() and each not in CHILD.reports]
        CHILD.collect()
        CHILD.select(rest)
        raise Failed(f"the process of the test ended: {ending}")

    def pass_on(self, report):
        if report["outcome"] == "failed":
            raise Failed(report["text"])
        if report["outcome"] == "xfailed":
            pytest.xfail(report["text"])
        if report["outcome"] == "skipped":
            pytest.skip(report["text"])

    def repr_failure(self, excinfo):
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, self.name


class Failed(Exception):
    """What the child said of a test that failed."""


class Reporter:
    """The plug-in in the child: tells what was collected, waits to be told what to run, and reports each test."""

    def __init__(self):
        reads, writes = os.environ.pop(ENDS).split(",")
        self.reads, self.writes = open(int(reads), encoding="utf-8"), open(int(writes), "w", encoding="utf-8")  # noqa: SIM115
        self.broken, self.outcome = {}, {}

    def send(self, content):
        self.writes.write(json.dumps(content) + "\n")
        self.writes.flush()

    def pytest_collectreport(self, report):
        if report.failed:
            self.broken[report.nodeid.rpartition("/")[2]] = report.longreprtext

    def pytest_runtestloop(self, session):
        tests = {}
        for item in session.items:
            markers = sorted({mark.name for mark in item.iter_markers()} - IN_CHILD)
            tests.setdefault(item.path.name, []).append((item.nodeid.partition("::")[2], markers))
        self.send({"tests": tests, "broken": self.broken})
        wanted = set(json.loads(self.reads.readline() or "[]"))
        session.items[:] = [each for each in session.items if short(each.nodeid) in wanted]
        session.testsfailed = 0  # files that could not be collected are told by the parent
        return None  # the loop that pytest has follows

    def pytest_runtest_logreport(self, report):
        outcome, text = self.outcome.get(report.nodeid, ("passed", ""))
        if report.failed:
            sections = "\n".join(f"--- {name} ---\n{content}" for name, content in report.sections)
            outcome, text = "failed", f"{text}{report.longreprtext}\n{sections}"
        elif report.skipped and outcome != "failed":
            expected = hasattr(report, "wasxfail")
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            outcome, text = ("xfailed", report.wasxfail) if expected else ("skipped", reason.removeprefix("Skipped: "))
        self.outcome[report.nodeid] = outcome, text
        if report.when == "teardown":
            self.send({"test": short(report.nodeid), "outcome": outcome, "text": text})


def short(nodeid):
    """Return a test's name from its file on: the same in both processes."""
    path, _, test = nodeid.partition("::")
    return f"{path.rpartition('/')[2]}::{test}"
