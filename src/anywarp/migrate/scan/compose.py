"""Compose files: how services get GPUs, from which image or folder they come, and what they start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.migrate.findings import Use
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.scan import commands, places
from anywarp.migrate.scan.lines import Lines


def is_compose(root: Node, name: str) -> bool:
    """Tell whether a document is a compose file, by its services."""
    services = root.get("services")
    if services is None or services.kind != "map":
        return False
    known = any(
        service.real().get("image") or service.real().get("build") or service.real().get("extends")
        for _, service in services.pairs
    )
    return "compose" in name or known


def document(lines: Lines, root: Node) -> Iterator[Use]:
    """Yield what each service says."""
    services = root.get("services")
    for key, value in services.pairs if services else ():
        service = value.real()
        if lines.first("service", service):
            yield from _service(lines, key, service)
        yield from _workload(lines, key, service)
    for place in places.places(root):
        if place.name in ("environment", "image") or (place.above and place.above[-1] in ("environment", "args")):
            yield from places.variables(lines, place)
            yield from places.image(lines, place)
        elif place.name in ("command", "entrypoint", "test"):
            yield from places.run(lines, place.value)


def _service(lines: Lines, key: Node, service: Node) -> Iterator[Use]:
    for name, value in service.pairs:
        if name.text == "runtime" and "nvidia" in value.text:
            yield lines.use_at("container.runtime", value.text, value.line, value.column, service=key.text)
        elif name.text == "gpus":
            yield lines.use_at("container.gpus", "gpus", name.line, name.column, service=key.text, value=value.text)
        elif name.text in ("devices", "volumes"):
            for entry in value.real().entries:
                if "nvidia" in entry.text:
                    yield lines.use_at("container.device", entry.text, entry.line, entry.column, service=key.text)
    for device in service.items("deploy", "resources", "reservations", "devices"):
        driver = device.get("driver")
        capabilities = [entry.text for entry in device.items("capabilities")]
        if (driver is not None and driver.text == "nvidia") or (driver is None and "gpu" in capabilities):
            node = driver if driver is not None else device
            count = device.value("count") or ", ".join(entry.text for entry in device.items("device_ids"))
            yield lines.use_at("container.reservation", "nvidia", node.line, node.column, service=key.text, count=count)
    resources = service.at("deploy", "resources", "reservations", "generic_resources")
    if resources is not None:
        for _, value in resources.walk():
            if re.search(r"(?i)gpu", value.text):
                yield lines.use_at("container.reservation", value.text, value.line, value.column, service=key.text)


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
