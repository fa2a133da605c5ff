"""Writes what goes with the files of a release: `-m releasing.papers OUT COMMIT EPOCH MACHINE REPOSITORY COMPILER FILE...`, COMPILER being zig or host."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from releasing import build, provenance, sbom, standins, toolchain


def main() -> None:
    """Write OUT/WHEEL.cdx.json and OUT/VERSION-MACHINE.provenance.json."""
    out, commit, epoch, machine, repository = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
    linked = sys.argv[6] == "zig"
    digests = {name: build.sha256(out / name) for name in sys.argv[7:]}
    wheel = next(name for name in digests if name.endswith(".whl"))
    fetched = standins.inputs(machine) if linked else []
    bill = out / f"{wheel.removesuffix('.whl')}.cdx.json"
    bill.write_text(sbom.of_wheel(out / wheel, digests[wheel], epoch, linked, fetched), encoding="utf-8")
    digests[bill.name] = build.sha256(bill)
    builder = os.environ.get("GITHUB_WORKFLOW_REF") or "a machine of the maintainers"
    builder = f"https://{repository}#{builder}"
    tools = provenance.requirements(toolchain.REQUIREMENTS)
    text = provenance.statement(digests, repository, commit, machine, builder, tools, epoch, fetched)
    (out / f"{'-'.join(wheel.split('-')[:2])}-{machine}.provenance.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
