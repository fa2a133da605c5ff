"""`anywarp shadow`: the comparing proxy before a source pool, for a rollout or on its own."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import click

from anywarp.diagnostics import AnywarpError, Diagnostic


@click.command("shadow")
@click.argument("plan", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--source", multiple=True, metavar="URL", help="Without a plan: a server that answers callers.")
@click.option("--target", multiple=True, metavar="URL", help="Without a plan: a server that is held against it.")
@click.option("--listen", metavar="HOST:PORT", help="Where callers are taken (default: the plan's, or 127.0.0.1:8080).")
@click.option("--gateway", metavar="URL", help="Where everything is sent, if a gateway divides the traffic; its answers say in x-anywarp-side who answered.")  # fmt: skip
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Where observations and the control file lie (default: with the rollout's state).")  # fmt: skip
@click.option("--sample", type=click.FloatRange(0, 1), help="The share of requests that is replayed.")
@click.option(
    "--noise",
    type=click.FloatRange(0, 1),
    help="The share of replays that goes to the side that answered, whose own noise it measures.",
)
@click.option("--gpu-seconds-per-minute", "budget", type=click.FloatRange(0), help="The most that replays may take of the target.")  # fmt: skip
@click.option("--tls-certificate", "certificate", type=click.Path(path_type=Path, dir_okay=False), help="Speak TLS to callers, with this certificate and its chain (PEM); read anew when it is replaced.")  # fmt: skip
@click.option("--tls-key", "key", type=click.Path(path_type=Path, dir_okay=False), help="The certificate's key (PEM).")
@click.option("--grace", default=30.0, show_default=True, type=click.FloatRange(0, 3600), help="Seconds that requests have to end in at the end.")  # fmt: skip
def command(
    plan: Path | None, source: tuple[str, ...], target: tuple[str, ...], listen: str | None, gateway: str | None, folder: Path | None,
    sample: float | None, noise: float | None, budget: float | None, certificate: Path | None, key: Path | None, grace: float,
) -> int:  # fmt: skip
    """Answer callers from the source, byte for byte, and hold the target's answers to the same requests against it.

    PLAN is that of `anywarp rollout`; without one, name servers by --source and --target.
    """
    from dataclasses import replace

    _need_extra()
    from anywarp.deploy.shadow.options import Options, Server, options_of_plan, server
    from anywarp.deploy.shadow.serve import serve

    def pool(side: str, urls: tuple[str, ...]) -> tuple[Server, ...]:
        try:
            return tuple(server(f"{side}-{n}", url) for n, url in enumerate(urls, 1))
        except ValueError as error:
            raise _wrong(str(error), "give scheme, host and port") from None

    if (certificate is None) != (key is None):
        raise _wrong("a certificate and its key belong together", "give both --tls-certificate and --tls-key")
    if (plan is None) == (not source) or (plan is not None and target):
        raise _wrong("give either a plan, or servers by --source and --target", "see `anywarp shadow --help`")
    if plan is not None:
        from anywarp.deploy.rollout.plan_file import read

        told = read(plan).plan
        if told.driver.kind not in ("haproxy", "proxy") and gateway is None:
            raise _wrong(f"the proxy cannot know where {told.driver.kind} divides the traffic", "name its address by --gateway")  # fmt: skip
        database, control = _places(folder, told.name)
        options = options_of_plan(told, database, control)
    else:
        database, control = _places(folder, "shadow")
        options = Options("shadow", str(database), str(control), pool("source", source), pool("target", target))
    if gateway is not None:
        options = replace(options, gateway=pool("gateway", (gateway,))[0])
    if listen is not None:
        host, _, port = listen.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65535:
            raise _wrong(f"--listen {listen} is no host and port", "give such as 127.0.0.1:8080")
        options = replace(options, host=host.strip("[]"), port=int(port))
    if sample is not None:
        options = replace(options, sample=sample)
    if noise is not None:
        options = replace(options, noise=noise)
    if budget is not None:
        options = replace(options, gpu_seconds_per_minute=budget)
    if certificate is not None:
        options = replace(options, certificate=str(certificate), key=str(key))
    cut = serve(options, _say(database), grace)
    if cut:
        click.echo(f"anywarp: {cut} connections were cut off after {grace:g} s", err=True)
    return 1 if cut else 0


def _say(database: Path) -> Callable[[str, int], None]:
    def started(host: str, port: int) -> None:
        click.echo(f"anywarp: callers are taken at {host}:{port}; observations go into {database}", err=True)

    return started


def _places(folder: Path | None, name: str) -> tuple[Path, Path]:
    """Return the database and the control file: in the rollout's own folder unless another is named."""
    if folder is None:
        from anywarp.deploy.rollout.state import folder as folder_of

        place = folder_of(name)
    else:
        place = folder
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise _wrong(f"{place} cannot be made: {error.strerror}", "choose a folder of yours") from None
    return place / "rollout.sqlite", place / "control.json"


def _need_extra() -> None:
    for name in ("aiohttp", "pydantic"):
        if importlib.util.find_spec(name) is None:
            raise AnywarpError(
                Diagnostic("Y091", f"the package {name} is not installed", help="pip install 'anywarp[rollout]'")
            )


def _wrong(message: str, advice: str) -> AnywarpError:
    return AnywarpError(Diagnostic("Y092", message, help=advice))
