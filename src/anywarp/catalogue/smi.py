"""Which command of amd-smi answers what a command line asks of nvidia-smi, from the table of both tools' options."""

from __future__ import annotations

from anywarp.catalogue.migration import Row, by, rows


def smi(words: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the command of amd-smi for options of nvidia-smi, the reason, and its source; an empty command where there is none."""
    table = {row["name"]: row for row in rows("smi") if row["kind"] == "command"}
    rest, extra = _common(list(words))
    query = next((word.partition("=")[2] for word in rest if word.startswith("--query-gpu=")), "")
    if query:
        return _query(query.split(","), extra)
    if any(word.startswith(("--query-compute-apps", "--query-apps")) for word in rest):
        row = by("smi", "name")["--query-compute-apps"]
        return row["target"] + extra, row["reason"], row["source"]
    row = table.get(" ".join(rest)) or (
        table.get(rest[0]) if rest and table.get(rest[0], {}).get("conversion") != "replace" else None
    )
    if row is None:
        return "", "", ""
    if row["conversion"] != "replace":
        return "", ("drop: " if row["conversion"] == "drop" else "") + row["reason"], row["source"]
    return row["target"] + extra, row["reason"], row["source"]


def _common(words: list[str]) -> tuple[list[str], str]:
    """Take the options that both tools have (-i, -l) out of the words, and return them as amd-smi writes them."""
    rest: list[str] = []
    extra = ""
    while words:
        word = words.pop(0)
        row = next(
            (row for row in rows("smi") if row["kind"] == "option" and row["name"] == word.partition("=")[0]), None
        )
        if word.startswith("--format"):
            continue
        if row is not None and row["columns"] == "same":
            value = word.partition("=")[2] or (words.pop(0) if words else "")
            extra += f" {row['target']} {value}"
        else:
            rest.append(word)
    return rest, extra


def _query(fields: list[str], extra: str) -> tuple[str, str, str]:
    found: list[Row] = []
    for name in fields:
        row = next((row for row in rows("smi") if row["kind"] == "query" and _fits(row["name"], name.strip())), None)
        if row is None or row["conversion"] != "replace":
            return (
                "",
                row["reason"] if row else f"amd-smi has no field for {name.strip()}",
                row["source"] if row else "",
            )
        found.append(row)
    verbs: dict[str, list[str]] = {}
    for row in found:
        verb, _, flags = row["target"].partition(" --")
        verbs.setdefault(verb, [])
        if flags and f"--{flags}" not in verbs[verb]:
            verbs[verb].append(f"--{flags}")
    text = " && ".join(" ".join((verb, *flags)) + extra for verb, flags in verbs.items())
    return text, "; ".join(dict.fromkeys(row["reason"] for row in found)), found[0]["source"]


def _fits(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else pattern == name
