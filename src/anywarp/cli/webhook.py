"""`anywarp webhook`: pods of a cluster converted as they are made; `serve` answers the API server, `try` asks the same of files.

The chart that installs it comes with the package: `anywarp webhook chart`.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from anywarp.migrate.target import USUAL_ARCHITECTURE, USUAL_ROCM

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_Command = TypeVar("_Command", bound=Callable[..., Any])
_RULES = (
    click.option("--target", default=f"hip:{USUAL_ARCHITECTURE}", show_default=True, help="cpu, or hip:ARCHITECTURE."),
    click.option("--rocm", default=USUAL_ROCM, show_default=True, help="The release of ROCm that images are for."),
    click.option("--card", default="", help="The card by name, such as MI300X: decides into what it can be divided."),
    click.option("--naming", type=click.Choice(["single", "mixed"]), default="single", show_default=True, help="How AMD's device plugin names whole GPUs."),
    click.option("--map", "mapped", multiple=True, metavar="KEY=OLD:NEW", help="What a value becomes; may be repeated."),
    click.option("--image", "images", multiple=True, metavar="OLD=NEW", help="The image that replaces another; may be repeated."),
    click.option("--dry-run", is_flag=True, help="Change nothing but annotations, which say what would be done."),
    click.option("--whole", is_flag=True, help="Leave a pod alone unless all of it can be converted."),
)  # fmt: skip


def _with_rules(command: _Command) -> _Command:
    for option in reversed(_RULES):
        command = option(command)
    return command


@click.group("webhook")
def command() -> None:
    """Convert pods of a Kubernetes cluster as they are made, with the rules of `anywarp convert`."""


@command.command("serve")
@click.option("--listen", default="127.0.0.1:8443", show_default=True, metavar="HOST:PORT", help="Where to listen.")
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The certificate (PEM); read again when it changes.",
)
@click.option("--key", type=click.Path(path_type=Path, dir_okay=False), help="Its key (PEM).")
@click.option(
    "--self-signed",
    type=click.Path(path_type=Path, file_okay=False),
    help="Make a pair in this folder, for a first try.",
)
@click.option(
    "--name", "names", multiple=True, help="A name or address that the pair of --self-signed is for; may be repeated."
)
@click.option("--plain", is_flag=True, help="HTTP without TLS, for something before it that speaks TLS.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1, 64), help="Reviews at a time.")
@click.option(
    "--time-limit", default=5.0, show_default=True, type=click.FloatRange(0.1, 30), help="Seconds a review may take."
)
@_with_rules
def serve(listen: str, certificate: Path | None, key: Path | None, self_signed: Path | None, names: tuple[str, ...], plain: bool,
          workers: int, time_limit: float, **chosen: Any) -> int:  # fmt: skip
    """Answer the reviews of a cluster's API server until told to end.

    A pod that is not understood is let through as it is, with a warning. Exit code 0: ended by a signal; 2: could not serve.
    """
    from anywarp.deploy.webhook import certificates, server

    host, port = _address(listen)
    ways = [bool(certificate or key), self_signed is not None, plain]
    if sum(ways) != 1 or bool(certificate) != bool(key):
        raise click.UsageError("give --certificate with --key, or --self-signed DIR, or --plain")
    if self_signed is not None:
        certificate, key = certificates.self_signed(self_signed, names or ("localhost", "127.0.0.1"))
        click.echo(
            f"anywarp: what signed the certificate is in {self_signed / certificates.AUTHORITY}: give it as caBundle",
            err=True,
        )
    watched = certificates.Watched(certificate, key) if certificate is not None and key is not None else None
    server.serve(server.Serving(host, port, workers, time_limit, watched, _rules(chosen)))
    return 0


@command.command("try")
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--exclude", multiple=True, metavar="PATTERN", help="Skip paths that match, as in .gitignore; may be repeated."
)
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_with_rules
def try_(path: Path, exclude: tuple[str, ...], style: str, **chosen: Any) -> int:
    """Ask the webhook's engine about every pod in the manifests at PATH, without a cluster.

    Exit code 0: every pod is converted whole or needs nothing; 1: something is left for a person; 2: PATH could not be read.
    """
    from anywarp.deploy.webhook.trial import try_all

    rules = _rules(chosen)
    counts: dict[str, int] = {}
    unread: list[str] = []
    left = 0
    told: list[dict[str, Any]] = []
    for one in try_all(path, rules, exclude):
        if isinstance(one, str):
            unread.append(one)
            continue
        counts[one.answer.outcome] = counts.get(one.answer.outcome, 0) + 1
        left += bool(one.answer.left) or one.answer.outcome == "not-understood"
        patch = json.loads(base64.b64decode(one.said.get("patch", "W10=")))
        if style == "json":
            told.append(
                {
                    "pod": one.place,
                    "outcome": one.answer.outcome,
                    "patch": patch,
                    "warnings": one.said.get("warnings", []),
                }
            )
        else:
            _tell(one.place, one.answer.outcome, patch, one.said.get("warnings", []))
    if style == "json":
        print(json.dumps({"pods": told, "outcomes": counts, "unread": unread}, indent=2))
    else:
        print(
            f"{sum(counts.values())} pods: "
            + (", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none")
        )
        for line in unread:
            print(f"not read: {line}", file=sys.stderr)
    return int(bool(left))


def _tell(place: str, outcome: str, patch: list[dict[str, Any]], warnings: list[str]) -> None:
    if outcome in ("unchanged", "not-for-us") and not warnings:
        return
    print(f"{place}: {outcome}")
    for operation in patch:
        if not operation["path"].startswith("/metadata/annotations"):
            value = f" {json.dumps(operation['value'], ensure_ascii=False)[:100]}" if "value" in operation else ""
            print(f"  {operation['op']} {operation['path']}{value}")
    for warning in warnings:
        print(f"  warning: {warning}")


@command.command("certify")
@click.option("--secret", required=True, metavar="NAMESPACE/NAME", help="The secret, which must be there.")
@click.option(
    "--name", "names", multiple=True, help="Make a certificate for this name, unless a good one is in the secret."
)
@click.option("--days", default=365, show_default=True, type=click.IntRange(1, 3650), help="How long it is good.")
@click.option("--configuration", help="Tell the API server the authority, in this MutatingWebhookConfiguration.")
def certify(secret: str, names: tuple[str, ...], days: int, configuration: str | None) -> int:
    """Make the webhook's certificate in a cluster, or make it known there; the jobs of the chart run this."""
    from anywarp.deploy.webhook import cluster

    namespace, _, own = secret.partition("/")
    if (
        not _NAME.fullmatch(namespace)
        or not _NAME.fullmatch(own)
        or not (configuration is None or _NAME.fullmatch(configuration))
    ):
        raise click.BadParameter(
            "names of Kubernetes are letters, digits, - and .", param_hint="--secret, --configuration"
        )
    if bool(names) == bool(configuration):
        raise click.UsageError("give --name (make it) or --configuration (make it known)")
    if names:
        made = cluster.make(cluster.Cluster(), namespace, own, names, days)
        click.echo(f"anywarp: {'a certificate was made in' if made else 'a good certificate is in'} {secret}", err=True)
    elif configuration:
        count = cluster.publish(cluster.Cluster(), namespace, own, configuration)
        click.echo(f"anywarp: {count} webhooks of {configuration} trust the authority in {secret}", err=True)
    return 0


@command.command("chart")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def chart(folder: Path) -> int:
    """Write the Helm chart that installs the webhook to FOLDER, which must not be there yet."""
    from anywarp.deploy.webhook.chart_files import write

    click.echo(f"anywarp: the chart is in {write(folder)}", err=True)
    return 0


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter(f"{text!r} is not HOST:PORT", param_hint="--listen")
    return host.strip("[]"), int(port)


def _rules(chosen: dict[str, Any]) -> Any:
    from anywarp.deploy.convert import answers
    from anywarp.deploy.convert.model import Options
    from anywarp.deploy.webhook.review import Rules
    from anywarp.migrate.target import parse_target

    target = parse_target(chosen["target"], chosen["rocm"])
    if target.device == "cuda":
        raise click.BadParameter("pods for CUDA need no conversion", param_hint="--target")
    options = Options(
        target=target,
        card=answers.card(chosen["card"], target),
        naming=chosen["naming"],
        mapping=answers.mapping(chosen["mapped"]),
        images=answers.images(chosen["images"]),
    )
    return Rules(options, chosen["dry_run"], chosen["whole"])
