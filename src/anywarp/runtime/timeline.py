"""A trace as one HTML page: rows for threads and streams, to be zoomed, dragged and searched in any browser, without a network.

The data travel in the page as JSON that holds no `<`, and the page shows names as text only, so that no trace can put code into it.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from anywarp.runtime.trace import Event, Trace

TEMPLATE = Path(__file__).with_name("timeline.html")

_LONGEST_NAME, _LONGEST_ARGS = 300, 400


def page(trace: Trace, title: str) -> str:
    """Return the whole page."""
    data = json.dumps(_data(trace), separators=(",", ":"), ensure_ascii=True)
    for character in "<>&":
        data = data.replace(character, f"\\u{ord(character):04x}")
    whole = TEMPLATE.read_text(encoding="utf-8")
    return whole.replace("@TITLE@", escape(title)).replace("@DATA@", data)


def _data(trace: Trace) -> dict[str, Any]:
    """Return rows of columns: beginnings and durations in microseconds, names and categories by number."""
    begin = min((span.begin for span in trace.spans), default=0.0)
    end = max((span.end for span in trace.spans), default=0.0)
    names: dict[str, int] = {}
    categories: dict[str, int] = {}
    by_row: dict[tuple[int, int], list[Event]] = {}
    for span in trace.spans:
        by_row.setdefault((span.process, span.row), []).append(span)
    rows = [
        {
            "process": f"{trace.processes.get(process, '')[:_LONGEST_NAME]} ({process})",
            "label": trace.rows.get((process, row), f"row {row}")[:_LONGEST_NAME],
            "begin": [round(span.begin - begin, 3) for span in spans],
            "time": [round(span.duration, 3) for span in spans],
            "name": [names.setdefault(span.name[:_LONGEST_NAME], len(names)) for span in spans],
            "kind": [categories.setdefault(span.category[:40], len(categories)) for span in spans],
            "args": [_arguments(span) for span in spans],
        }
        for (process, row), spans in sorted(by_row.items())
    ]
    return {"end": end - begin, "names": list(names), "kinds": list(categories), "rows": rows}


def _arguments(span: Event) -> str:
    return ", ".join(f"{key} {value}" for key, value in span.args.items())[:_LONGEST_ARGS]
