"""`anywarp ui`: a local web page over what was kept."""

from __future__ import annotations

import asyncio

import click


@click.command("ui")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address of this machine that is listened at.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port (0: one that is free).")
@click.option("--allow-changes", is_flag=True, help="Results can be removed, and rollouts be ended, from the page.")
@click.option("--open", "opened", is_flag=True, help="Open it in a browser, too.")
def command(host: str, port: int, allow_changes: bool, opened: bool) -> int:
    """Show assessments, verifications, measurements, costs and rollouts in a browser.

    The page is for you alone: its address has a key. It is read only, fetches nothing from elsewhere, and ends with Ctrl-C.
    """
    from anywarp.deploy.ui.server import Served, serve

    def ready(served: Served) -> None:
        click.echo(served.address)
        click.echo("anywarp: open this address in a browser; Ctrl-C ends it", err=True)
        if opened:
            click.launch(served.address)

    asyncio.run(serve(host, port, allow_changes, ready))
    return 0
