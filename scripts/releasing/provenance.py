"""Where files of a release come from, as an in-toto statement with SLSA's predicate: for whoever signs it.

Source: in-toto Attestation Framework, Statement v1; SLSA 1.0, Build provenance.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

BUILD_TYPE = "https://{repository}/blob/{commit}/docs/release.md"


def statement(
    files: Mapping[str, str],
    repository: str,
    commit: str,
    machine: str,
    builder: str,
    tools: Sequence[str],
    epoch: int,
    fetched: Sequence[Mapping[str, str]] = (),
) -> str:
    """Return the statement as JSON; `files` has the SHA-256 of each file by name.

    `repository` is host and path, without a scheme; `tools` the packages whose versions decide the bytes; `builder` who built; `fetched` rows of
    standins.tsv: what was compiled with, too.
    """
    source = {"uri": f"git+https://{repository}@{commit}", "digest": {"gitCommit": commit}}
    versions = [{"uri": f"pkg:pypi/{name}@{metadata.version(name)}"} for name in tools]
    kinds = {"pypi": "pypi", "debian": "deb/debian"}
    inputs = [
        {
            "uri": f"pkg:{kinds[row['kind']]}/{quote(row['package'])}@{quote(row['version'])}?file_name={quote(row['file'])}",
            "digest": {"sha256": row["sha256"]},
        }
        for row in fetched
    ]
    whole = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(files.items())],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE.format(repository=repository, commit=commit),
                "externalParameters": {"source": source["uri"], "machine": machine},
                "internalParameters": {"SOURCE_DATE_EPOCH": epoch},
                "resolvedDependencies": [source, *versions, *inputs],
            },
            "runDetails": {"builder": {"id": builder}},
        },
    }
    return json.dumps(whole, indent=2) + "\n"


def rows(path: Path, machine: str) -> list[dict[str, str]]:
    """Return the rows of standins.tsv that a wheel for a machine was compiled with: torch's headers only where the rest is there, too."""
    known = list(csv.DictReader(path.read_text().splitlines()[1:], delimiter="\t", quoting=csv.QUOTE_NONE))
    folders = {row["name"].partition("/")[0] for row in known}
    return [row for row in known if row["name"].partition("/")[0] in ("torch", machine)] if machine in folders else []


def requirements(path: Path) -> list[str]:
    """Return the names in a file of exact requirements."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line.partition("==")[0] for line in lines if line]
