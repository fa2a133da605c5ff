"""Where files of a release come from, as an in-toto statement with SLSA's predicate: for whoever signs it.

Source: in-toto Attestation Framework, Statement v1; SLSA 1.0, Build provenance.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import quote

from anywarp.catalogue.deriving.inputs import Input

BUILD_TYPE = "https://{repository}/blob/{commit}/docs/release.md"


def statement(
    files: Mapping[str, str],
    repository: str,
    commit: str,
    machine: str,
    builder: str,
    tools: Sequence[str],
    epoch: int,
    fetched: Sequence[Input] = (),
) -> str:
    """Return the statement as JSON; `files` has the SHA-256 of each file by name.

    `repository` is host and path, without a scheme; `tools` the packages whose versions decide the bytes; `builder` who built; `fetched` what
    standins.tsv says that was compiled with, too.
    """
    source = {"uri": f"git+https://{repository}@{commit}", "digest": {"gitCommit": commit}}
    versions = [{"uri": f"pkg:pypi/{name}@{metadata.version(name)}"} for name in tools]
    kinds = {"pypi": "pypi", "debian": "deb/debian"}
    inputs = [
        {
            "uri": f"pkg:{kinds[each.kind]}/{quote(each.package)}@{quote(each.version)}?file_name={quote(each.file)}",
            "digest": {"sha256": each.sha256},
        }
        for each in fetched
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


def requirements(path: Path) -> list[str]:
    """Return the names in a file of exact requirements."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line.partition("==")[0] for line in lines if line]
