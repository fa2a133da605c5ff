"""Compose files: how services get GPUs, from which image or folder they come, and what they start."""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.migrate.findings import Use
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.rulings import gpus, yaml_kinds
from anywarp.migrate.scan import commands, places
from anywarp.migrate.scan.lines import Lines


def document(lines: Lines, root: Node) -> Iterator[Use]:
    """Yield what each service says."""
    for key, value in yaml_kinds.services(root):
        service = value.real()
        if service.kind == "map" and lines.first("service", service):
            yield from _service(lines, key, service)
    services = root.get("services")
    for key, value in services.pairs if services is not None else ():
        yield from _workload(lines, key, value.real())
    for place in places.places(root):
        if place.name in ("environment", "image") or (place.above and place.above[-1] in ("environment", "args")):
            yield from places.variables(lines, place)
            yield from places.image(lines, place)
        elif place.name in ("command", "entrypoint", "test"):
            yield from places.run(lines, place.value)


def _service(lines: Lines, key: Node, service: Node) -> Iterator[Use]:
    for asked in gpus.of_service(service):
        node = asked.node
        if node is not None:
            name = {"gpus": "gpus", "reservation": "nvidia"}.get(asked.how, asked.value)
            details = {"service": key.text, "value": asked.value, "left": asked.left, "help": asked.help}
            yield lines.use_at(f"container.{asked.how}", name, node.line, node.column, **details)


def _workload(lines: Lines, key: Node, service: Node) -> Iterator[Use]:
    image, build = service.value("image"), service.get("build")
    details: list[tuple[str, str]] = [("kind", "compose")]
    if build is not None:
        context = build.text if build.kind == "scalar" else build.value("context") or "."
        tag = image or key.text
        yield lines.use_at(
            "docker.build", tag, build.line, build.column, context=context, dockerfile=build.value("dockerfile")
        )
        for name, value in (build.get("args") or Node("map", 0, 0)).pairs:
            for one in commands.build_argument(name.text, value.real().text, 0):
                yield lines.use_at(one.subject, one.name, value.line, value.column, **dict(one.details))
        details.append(("image", tag))
    elif image:
        details.append(("image", image))
    command = service.get("command")
    if command is not None:
        text = command.text or " ".join(entry.text for entry in command.entries[:400])
        details.append(("command", text[:400]))
    if len(details) > 1:
        yield Use("deploy.workload", key.text, key.line, key.column, lines.line(key.line), tuple(details))
