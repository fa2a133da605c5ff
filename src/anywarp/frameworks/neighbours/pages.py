"""docs/coverage/neighbours.md, made of what the adapters know."""

from __future__ import annotations

from anywarp.frameworks.neighbours import as_they_are, registry

HEAD = """# Packages beside PyTorch, by version

Made by `scripts/docs` from the adapters (`src/anywarp/frameworks/neighbours`). `runs`: as it is. `through us`: its own kernels, compiled or loaded by anywarp.
`replaced by`: imports are answered by ours ([neighbours.md](../neighbours.md) says when). `not yet`: refused, in words. All on the device `cpu`, with PyTorch 2.13's CPU build.

| package | version | here | what was run, or what answers | checked | by |
| --- | --- | --- | --- | --- | --- |
"""


def as_markdown() -> str:
    """Return the page."""
    known = [*as_they_are.PACKAGES, *registry.ANSWERED.values()]
    rows = sorted((each.name, ran) for each in known for ran in each.ran)
    return HEAD + "".join(
        f"| {name} | {ran.version} | {ran.how} | {ran.words} | {ran.date} | `{ran.checked}` |\n" for name, ran in rows
    )


if __name__ == "__main__":
    print(as_markdown(), end="")
