"""Measure how fast a PTX module is indexed, next to a plain pass over the same bytes, in one run.

Loading a module must not cost what compiling it does, so the index has to run at the speed of a scan. The module is made of
the PTX files given, or of a generated kernel of the usual mix, repeated under new names to the size asked for. Prints MB/s and
the ratio to `bytes.count`, the median of the rounds, and for scale the time to parse one body.

    python benchmarks/index_throughput.py
    python benchmarks/index_throughput.py --megabytes 200 kernel.ptx another.ptx
"""

from __future__ import annotations

import json
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import click

from anywarp.ptx.index import index_module

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
LINES = (
    "\tld.param.u64 \t%rd{n}, [kernel_param_0];",
    "\tcvta.to.global.u64 \t%rd{n}, %rd{m};",
    "\tld.global.v4.f32 \t{{%f{n}, %f{m}, %f1, %f2}}, [%rd{m}+16];",
    "\tfma.rn.f32 \t%f{n}, %f{m}, %f1, 0f3F800000;",
    "\t// begin inline asm",
    "\t{{ mul.f16x2 %r{n},%r{m},%r2; }}\n",
    "\t// end inline asm",
    "\tadd.s32 \t%r{n}, %r{m}, 1;",
    "\tshl.b32 \t%r{n}, %r{m}, 2;",
    "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f{n},%f{m},%f3,%f4}}, {{%r1,%r2,%r3,%r4}}, {{%r5,%r6}}, {{%f1,%f2,%f3,%f4}};",
    "\tmad.wide.s32 \t%rd{n}, %r{m}, 4, %rd1;",
    "\tst.shared.f32 \t[%r{n}+128], %f{m};",
    "\tbar.sync \t0;",
    "\tsetp.lt.s32 \t%p1, %r{n}, %r{m};",
    "\t@%p1 bra \t$L__BB0_{n};",
    "$L__BB0_{n}:",
)


def generated(lines: int = 2000) -> str:
    """Return a module of one kernel with the mix of instructions, braces and comments that nvcc writes."""
    body = "\n".join(LINES[n % len(LINES)].format(n=n, m=n + 1) for n in range(lines))
    params = ",\n".join(f"\t.param .u64 kernel_param_{n}" for n in range(8))
    return f"{HEAD}\n.visible .entry kernel(\n{params}\n)\n{{\n\t.reg .b32 \t%r<{lines}>;\n{body}\n\tret;\n}}\n"


def enlarged(texts: list[str], size: int) -> bytes:
    """Return one module of at least `size` bytes: the texts without their headers, each function renamed in each copy."""
    bare = [re.sub(r"\.(version|target|address_size)[^\n]*", "", t).rstrip("\0") for t in texts]
    name = re.compile(r"(\.(?:entry|func)\s+(?:\([^)]*\)\s*)?)([\w$]+)")
    pieces, total, copy = [HEAD], 0, 0
    while total < size:
        for text in bare:
            pieces.append(name.sub(rf"\1\2_{copy}", text))
            total += len(pieces[-1])
        copy += 1
    return "\n".join(pieces).encode()


def seconds(call: Callable[[], object], rounds: int) -> float:
    """Return the median processor time of a call, which other work on the machine hardly changes."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--megabytes", default=100, show_default=True, help="Size of the module.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
def main(files: tuple[Path, ...], megabytes: int, rounds: int, style: str) -> None:
    """Measure how fast a PTX module is indexed."""
    module = enlarged([f.read_text() for f in files] or [generated()], megabytes * 1_000_000)
    index = index_module(module)
    name = max(
        index.entries, key=lambda n: (index.functions[n].body or (0, 0))[1] - (index.functions[n].body or (0, 0))[0]
    )
    lines = module[slice(*(index.functions[name].body or (0, 0)))].count(b"\n")
    times = {
        "index": seconds(lambda: index_module(module), rounds),
        "count": seconds(lambda: module.count(b"{"), rounds),
        "parse": seconds(lambda: index.function(name), rounds),
    }
    size = len(module) / 1e6
    result = {
        "megabytes": round(size, 1),
        "kernels": len(index.entries),
        "index_mb_per_s": round(size / times["index"], 1),
        "count_mb_per_s": round(size / times["count"], 1),
        "index_over_count": round(times["index"] / times["count"], 2),
        "parse_us_per_line": round(times["parse"] / lines * 1e6, 2),
    }
    if style == "json":
        click.echo(json.dumps(result))
        return
    click.echo(f"module of {result['megabytes']} MB, {result['kernels']} kernels; median of {rounds} rounds")
    click.echo(
        f"index        {result['index_mb_per_s']:9.1f} MB/s   {result['index_over_count']:.1f} times as long as bytes.count"
    )
    click.echo(f"bytes.count  {result['count_mb_per_s']:9.1f} MB/s")
    click.echo(f"parse a body {result['parse_us_per_line']:9.2f} us for each of its {lines} lines")


if __name__ == "__main__":
    main()
