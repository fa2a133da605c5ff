"""The power of the target pool, asked of a monitoring system by Prometheus' HTTP interface (`/api/v1/query`)."""

from __future__ import annotations

import http.client
import json
import math
import urllib.parse
import urllib.request
from typing import Any

MOST_BYTES = 1 << 20


def watts(address: str, query: str) -> float | None:
    """Return the sum of an instant query's values; None where it cannot be had."""
    url = f"{address.rstrip('/')}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(url, timeout=3) as answer:
            told: Any = json.loads(answer.read(MOST_BYTES))
        data = told["data"]
        rows = [data["result"]] if data["resultType"] == "scalar" else [row["value"] for row in data["result"]]
        value = math.fsum(float(row[1]) for row in rows)
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return value if rows and math.isfinite(value) and value >= 0 else None
