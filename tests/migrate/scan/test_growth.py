"""Large and hostile manifests: work grows as their text does. Work is counted, or so much of it given that its square takes hours."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import PurePath
from types import FrameType
from typing import Any

import pytest

from anywarp.catalogue import replacements
from anywarp.migrate.formats import outline_node
from anywarp.migrate.formats.outline import documents
from anywarp.migrate.scan import commands, kubernetes, manifests, shell
from anywarp.migrate.scan.lines import Lines, Piece, filled

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  image: a\n"
NAME = PurePath("deploy/pod.yaml")


def calls(work: Callable[[], Any]) -> int:
    """Count the functions that some work calls, those of the interpreter's own among them."""
    count = 0

    def step(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(step)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def schema(number: int) -> str:
    """Write the definition of a resource with so many properties, deep inside each other, none with the words of another."""
    text = [
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec:\n  openAPIV3Schema:\n    properties:"
    ]
    for place in range(number):
        indent = "    " * (place % 24 + 2)
        text += [
            f"{indent}field{place}:",
            f"{indent}  description: The image {place} that a container at /srv/{place} runs, with its resources.",
            f"{indent}  default: ghcr.io/acme/image-{place}:{place}",
            f"{indent}  required:\n{indent}  - name{place}",
            f"{indent}  properties:",
        ]
    return "\n".join(text)


LARGE = {
    "schema": schema,
    "aliases of a command": lambda n: (
        POD + "  a: &a\n" + "".join(f"  - echo {i}\n" for i in range(n)) + "".join(f"  x{i}: {{args: *a}}\n" for i in range(n))
    ),
    "containers over and over": lambda n: (
        POD + "  containers:\n" + "".join(f"  - name: c{i}\n" for i in range(n)) + "  containers:\n  - name: d\n" * n
    ),
    "aliases of a container": lambda n: (
        POD
        + "  c: &c\n    name: a\n    env:\n"
        + "".join(f"    - name: A{i}\n" for i in range(n))
        + f"  containers: [{', '.join(['*c'] * n)}]\n"
    ),
    "aliases of an object": lambda n: (
        "apiVersion: v1\nkind: List\nx: &x\n  kind: Pod\n"
        + "".join(f"  a{i}: nvidia\n" for i in range(n))
        + f"items: [{', '.join(['*x'] * n)}]\n"
    ),
    "aliases of a service": lambda n: (
        "x: &x\n  image: a\n  volumes:\n" + "  - nvidia\n" * n + "services:\n" + "".join(f"  s{i}: *x\n" for i in range(n))
    ),
    "values of a label": lambda n: (
        POD + "  x:\n    operator: In\n    values:\n" + "    - a\n" * n + "".join(f"    key: nvidia.com/g{i}\n" for i in range(n))
    ),
    "objects that go as a whole": lambda n: (
        "apiVersion: v1\nkind: List\nitems:\n" + "- {apiVersion: nvidia.com/v1, kind: ClusterPolicy}\n" * n
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_twice_the_text_is_twice_the_work(text: Callable[[int], str], monkeypatch: pytest.MonkeyPatch) -> None:
    told = 0

    def rows(*bounds: int) -> range:
        nonlocal told
        told += len(range(*bounds))
        return range(*bounds)

    monkeypatch.setattr(manifests, "range", rows, raising=False)

    def work(number: int) -> int:
        nonlocal told
        told, data = 0, text(number).encode()
        for answers in (replacements.kind, replacements.label, replacements.resource, replacements.variable):
            answers.cache_clear()
        return calls(lambda: list(manifests.scan(data, NAME))) + told

    work(10)  # tables are loaded
    assert work(800) < 2.5 * work(400)


def test_words_of_a_command_are_not_held_against_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def same(one: object, other: object) -> bool:
        nonlocal compared
        compared += 1
        return one is other

    monkeypatch.setattr(outline_node.Node, "__eq__", same)
    text = POD + "  args:\n" + "".join(f"  - one{i}\n  - two words{i}\n" for i in range(300))
    list(manifests.scan(b"# nvidia\n" + text.encode(), NAME))
    assert compared < 3000


def test_images_of_a_workload_are_not_held_against_each_other() -> None:
    compared = 0

    class Text(str):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    text = POD + "  containers:\n" + "".join(f"  - image: ghcr.io/acme/a{i}:1\n" for i in range(300))
    root = documents(text)[0]
    for _, node in root.walk():
        node.text = Text(node.text) if node.text.startswith("ghcr") else node.text
    (use,) = kubernetes.workload(Lines(text.encode()), root, "")
    assert sum(key == "image" for key, _ in use.details) == 40
    assert compared < 3000


MANY = 300_000
HOSTILE = {
    "templates that never end": lambda: filled("}} " + "{{ a " * MANY, "x"),
    "templates": lambda: list(manifests.scan((POD + '  nvidia: "/' + "{{ a " * MANY + '"\n').encode(), NAME)),
    "comments of templates": lambda: list(manifests.scan((POD + "{{/* nvidia\n" * MANY).encode(), NAME)),
    "an address": lambda: list(commands.value_use("https://" + "a.nvidia.com/" * MANY, 0)),
    "addresses": lambda: list(commands.seen_in([("curl", 0), ("https://" * MANY, 5)])),
    "commented names": lambda: list(manifests.scan((POD + "{{ x" + " # nvidia.com/gpu" * MANY).encode(), NAME)),
    "commented names in a script": lambda: list(shell.named("a" + " # nvidia.com/gpu" * MANY, set())),
    "folders on one line": lambda: list(shell.paths("x /usr/local/cuda" * MANY)),
    "what is found on one line": lambda: list(
        Lines(b"x").found_in(Piece("x /usr/local/cuda" * MANY), shell.paths("x /usr/local/cuda" * MANY))
    ),
}  # fmt: skip


@pytest.mark.parametrize("work", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_looked_at_once(work: Callable[[], Any]) -> None:
    work()


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("https://developer.download.nvidia.com/compute/a.run", "https://developer.download.nvidia.com/compute/a.run"),
        ("https://proxy/x.tar/nvidia.com/b", None),
        ("https://proxy/nvidia.com/keyring'x", "https://proxy/nvidia.com/keyring"),
        ("see https://nvidia.com/a.deb", None),
        ("https://nvidia.com.tar", None),
    ],
)
def test_addresses_of_downloads(value: str, address: str | None) -> None:
    found = [one.name for one in commands.value_use(value, 0) if one.subject == "package.source"]
    assert found == ([address] if address else [])


def test_templates_are_filled_where_they_end() -> None:
    assert filled("a{{ x }}b{{y}} {{ z\n{{ q }} }}", "-") == "a-b- {{ z\n- }}"


def test_aliases_of_a_script_tell_of_it_once() -> None:
    text = "stages: [a]\n.x: &x\n- nvidia-smi\njob:\n  script: *x\nother:\n  script: *x\n"
    uses = list(manifests.scan(text.encode(), PurePath(".gitlab-ci.yml")))
    assert [(use.subject, use.line) for use in uses] == [("command.nvidia-smi", 3)]
