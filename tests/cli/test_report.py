"""`anywarp report`: sums against arithmetic done here, and traces that mean harm."""

import gzip
import json
import re
import shutil
import subprocess

import pytest

from anywarp.cli.main import call
from anywarp.runtime import trace
from anywarp.runtime.timeline import page
from anywarp.runtime.trace_summary import summarise


def span(name, category, begin, duration, row=1, process=1, **args):
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "ts": begin,
        "dur": duration,
        "pid": process,
        "tid": row,
        "args": args,
    }


EVENTS = [
    {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "train"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 90, "args": {"name": "device 0 stream 7"}},
    span("cuLaunchKernel", "driver", 0, 4),
    span("cuLaunchKernel", "driver", 10, 6),
    span("cuMemcpyHtoD_v2", "driver", 20, 30),
    span("gemm", "kernel", 100, 40, 90),
    span("gemm", "kernel", 150, 20, 90),
    span("relu", "kernel", 400, 20, 90),
    span("copy pageable to device", "copy", 600, 50, 90, bytes=1_000_000),
]


def write(tmp_path, content, name="t.json"):
    path = tmp_path / name
    text = content if isinstance(content, (str, bytes)) else json.dumps(content)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def report(capsys, *arguments):
    status = call(["report", *map(str, arguments)])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_times_are_added_up_by_name(tmp_path, capsys):
    status, out, _ = report(capsys, write(tmp_path, {"traceEvents": EVENTS}), "--format", "json")
    found = json.loads(out)
    assert status == 0 and found["duration"] == 650
    kernels = {row["name"]: row for row in found["kernels"]}
    assert [row["name"] for row in found["kernels"]] == ["gemm", "relu"]
    gemm = kernels["gemm"]
    assert (gemm["count"], gemm["total"], gemm["mean"], gemm["shortest"], gemm["longest"]) == (2, 60, 30, 20, 40)
    assert (gemm["share"], kernels["relu"]["share"]) == (0.75, 0.25)
    assert {row["name"]: row["total"] for row in found["calls"]} == {"cuLaunchKernel": 10, "cuMemcpyHtoD_v2": 30}
    (copy,) = found["copies"]
    assert copy["bytes"] == 1_000_000 and copy["bytes_per_second"] == 1_000_000 / 50e-6


def test_a_call_inside_another_is_not_counted_twice(tmp_path, capsys):
    nested = [
        span("cudaMemcpy", "runtime", 0, 100),
        span("cuMemcpy", "driver", 10, 75),
        span("cuInit", "driver", 0, 100, row=2),
    ]
    _, out, _ = report(capsys, write(tmp_path, nested), "--format", "json")
    shares = {row["name"]: row["share"] for row in json.loads(out)["calls"]}
    assert shares == {"cudaMemcpy": 0.5, "cuInit": 0.5, "cuMemcpy": 0.375}


def test_idle_times_of_a_stream_are_between_its_work(tmp_path, capsys):
    _, out, _ = report(capsys, write(tmp_path, EVENTS), "--format", "json")
    (stream,) = json.loads(out)["streams"]
    assert (stream["name"], stream["busy"], stream["span"], stream["work"]) == ("device 0 stream 7", 130, 550, 4)
    assert [(gap["begin"], gap["duration"], gap["before"], gap["after"]) for gap in stream["gaps"]] == [
        (170, 230, "gemm", "relu"),
        (420, 180, "relu", "copy pageable to device"),
        (140, 10, "gemm", "gemm"),
    ]


def test_a_pipe_gets_plain_columns(tmp_path, capsys):
    status, out, _ = report(
        capsys, write(tmp_path, gzip.compress(json.dumps(EVENTS).encode()), "t.json.gz"), "--top", 1
    )
    assert status == 0 and "\x1b" not in out
    assert re.search(r"^ +75\.0% +60\.00 us +2 +30\.00 us +20\.00 us +40\.00 us +gemm$", out, re.MULTILINE)
    assert "relu" not in out.split("streams")[0] and "(the first 1 of 2)" in out


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[1, 2", b"\xff\xfe", b'"text"', b"3", b'{"traceEvents": 3}', b"{}", b"\x1f\x8bgarbage",
        gzip.compress(b"[]" + b" " * 100_000)[:60], b"[" * 200_000,
    ],
)  # fmt: skip
def test_what_is_no_trace_is_said_to_be_none(tmp_path, capsys, content):
    status, out, err = report(capsys, write(tmp_path, content))
    assert status == 2 and "R030" in err and not out


def test_events_that_make_no_sense_are_left_out_and_counted(tmp_path, capsys):
    bad = [
        None, 3, [], {}, {"ph": "X"}, span("a", "kernel", "soon", 1), span("a", "kernel", 1, -5), span(7, "kernel", 1, 1),
        span("a", "kernel", 1, 1e300), span("a", "kernel", 10**400, 1), span("a", "kernel", None, 1),
    ]  # fmt: skip
    odd = [
        span("b", ["kernel"], 5, 1),
        span("b", "kernel", 6, 1, row=2**70, process=-(2**70)),
        span("b", "copy", 7, 1, bytes="many"),
    ]
    status, out, _ = report(capsys, write(tmp_path, [*bad, *odd, *EVENTS]), "--format", "json")
    found = json.loads(out)
    assert status == 0 and found["ignored"] == len(bad)
    assert found["spans"] == 7 + len(odd)
    assert (
        call(
            [
                "report",
                str(
                    write(tmp_path, json.dumps([*EVENTS, span("x", "kernel", 1, 1)]).replace('"dur": 1', '"dur": NaN'))
                ),
            ]
        )
        == 0
    )


def test_names_cannot_control_a_terminal(tmp_path, capsys):
    _, out, _ = report(capsys, write(tmp_path, [span("a\x1b[31m\nb" + "c" * 500, "kernel", 0, 1)]))
    assert "\x1b" not in out and "a?[31m?b" in out and max(map(len, out.splitlines())) < 300


NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"'@DATA@"


def test_html_holds_no_code_of_the_trace(tmp_path):
    events = [
        span(NASTY, NASTY, 0, 1, note=NASTY),
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": NASTY}},
    ]
    html = page(trace.read(write(tmp_path, events)), NASTY)
    assert html.count("<script") == 2 and html.count("</script") == 2 and "<img" not in html
    data = re.search(r'type="application/json">(.*?)</script>', html, re.DOTALL)
    assert json.loads(data[1])["names"] == [NASTY]
    assert "http" not in re.sub(r'http-equiv="Content-Security-Policy"', "", html)


def test_html_of_a_hundred_thousand_events_is_made_and_its_lanes_are_apart(tmp_path, capsys):
    events = [span(f"kernel {i % 97}", "kernel", 2 * i, 1.5, row=i % 5) for i in range(100_000)]
    target = tmp_path / "t.html"
    status, _, err = report(capsys, write(tmp_path, events), "--html", target)
    assert status == 0 and "t.html" in err
    assert target.stat().st_size < 30 << 20


@pytest.mark.skipif(shutil.which("node") is None, reason="this machine has no node")
def test_the_script_of_the_page_draws_every_event(tmp_path):
    """The page's own script, run without a browser: a canvas that counts what is drawn."""
    events = [span("outer", "driver", 0, 100), span("inner", "driver", 10, 20), span("later", "kernel", 200, 5, row=9)]
    html = page(trace.read(write(tmp_path, events)), "t")
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL)
    harness = """
const drawn = [];
const ink = new Proxy({}, { get: (t, k) => k === "fillText" ? (s) => drawn.push(s) : (k in t ? t[k] : () => {}), set: (t, k, v) => (t[k] = v, true) });
const element = () => ({ style: {}, addEventListener() {}, getContext: () => ink, clientWidth: 1000, clientHeight: 600, scrollTop: 0, value: "" });
const elements = { data: { textContent: DATA } };
globalThis.document = { getElementById: (id) => elements[id] = elements[id] || element() };
globalThis.matchMedia = () => ({ matches: false });
globalThis.addEventListener = () => {};
globalThis.requestAnimationFrame = (f) => f();
globalThis.devicePixelRatio = 1;
"""
    program = (
        harness.replace("DATA", json.dumps(data))
        + script
        + "\nconsole.log(JSON.stringify([drawn, data.rows.map((r) => r.lanes)]));"
    )
    done = subprocess.run(["node", "-e", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    drawn, lanes = json.loads(done.stdout)
    assert {"outer", "inner"} <= set(drawn) and lanes == [[[0], [1]], [[0]]]


def test_a_summary_of_nothing_is_nothing(tmp_path):
    found = summarise(trace.read(write(tmp_path, [])))
    assert (found.duration, found.kernels, found.streams) == (0, (), ())
