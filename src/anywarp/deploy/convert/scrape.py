"""prometheus.yml: where Prometheus finds NVIDIA's exporter, it is to find AMD's.

The exporters listen on other ports; the name of a job stays, since queries go by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert import ports, promql
from anywarp.deploy.convert.model import Change, Finding, Note, Options, Refusal
from anywarp.deploy.convert.sweep import MENTION
from anywarp.deploy.convert.yaml_text import YamlText
from anywarp.migrate.formats.outline import Node

NAME = "scrape"
_SOURCE = "github.com/ROCm/device-metrics-exporter docs/integrations/prometheus-grafana.md"


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a configuration of Prometheus."""
    named = path.suffix.lower() in (".yml", ".yaml")
    return named and re.search(rb"(?m)^scrape_configs[ \t]*:", data) is not None and b"apiVersion:" not in data


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of the jobs that scrape NVIDIA's exporter, by their names or by its port."""
    text = YamlText(data)
    for root in text.documents:
        for job in root.items("scrape_configs"):
            yield from _job(text, job)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return YamlText(data).comments()


def _job(text: YamlText, job: Node) -> Iterator[Finding]:
    name = job.get("job_name")
    ours = name is not None and re.search(r"(?i)dcgm|nvidia|gpu", name.text) is not None
    for _, node in job.walk():
        if node.kind != "scalar":
            continue
        start, end = text.span(node)
        named = (
            MENTION.search(text.data, start, end) is not None
        )  # the place names NVIDIA's exporter: host and port go together
        if ours and not named and (port := ports.IN_BYTES.search(text.data[start:end])):
            place = start + port.start()
            yield Change(place, place + len(port[0]), ports.AMDS.encode(), ports.REASON, _SOURCE)
        if node is name and MENTION.search(node.text.encode()):
            yield Note(start, end, "the name of a job stays, since queries go by it", _SOURCE)
        elif promql.NVIDIAS.search(node.text):
            help = "write it anew for AMD's metrics (lower case, gpu_...)"
            yield Refusal(start, end, "a pattern of NVIDIA's metrics", help, _SOURCE, promql.NO_COUNTERPART)
        elif named:
            help = f"name what AMD's exporter is called here, and its port, {ports.AMDS}"
            yield Refusal(start, end, "names NVIDIA's exporter", help, _SOURCE, promql.LABEL)
