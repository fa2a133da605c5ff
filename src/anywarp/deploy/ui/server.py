"""The server of the pages: on this machine alone, read only unless it is told otherwise, without scripts and without anything from elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from anywarp.deploy.ui import codes, site
from anywarp.deploy.ui.guard import HEADERS, REPORT_POLICY, Guard
from anywarp.diagnostics import AnywarpError

if TYPE_CHECKING:
    from aiohttp import web

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_WORDS = {
    "unknown": (403, "This page needs its key: open the address that `anywarp ui` printed."),
    "elsewhere": (421, "This address is not the one that is served here."),
    "read only": (403, "Nothing can be changed here: start `anywarp ui --allow-changes` for that."),
    "foreign": (403, "That did not come from a page of ours."),
}


@dataclass(frozen=True, slots=True)
class Served:
    """Where the pages are: an address that a browser opens, with the key."""

    address: str
    host: str
    port: int


async def serve(
    host: str, port: int, changes: bool, ready: Callable[[Served], None], until: asyncio.Event | None = None
) -> None:
    """Serve the pages until the process is told to end (SIGINT, SIGTERM) or `until` is set; port 0 takes a free one.

    AnywarpError: Y130 without aiohttp, Y131 when the address cannot be had.
    """
    try:
        from aiohttp import web
    except ImportError as error:
        raise codes.problem(
            codes.EXTRA, "the pages are served by aiohttp, which is not installed", "pip install 'anywarp[ui]'"
        ) from error
    loop, ended = asyncio.get_running_loop(), until or asyncio.Event()
    sockets = await _listen(loop, host, port)
    port = sockets.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    guard = Guard(frozenset(f"{name}:{port}" for name in (shown, "localhost")), changes)
    runner = web.AppRunner(application(guard), access_log=None, handle_signals=False)
    await runner.setup()
    try:
        await web.SockSite(runner, sockets).start()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):  # not in the main thread
                loop.add_signal_handler(number, ended.set)
        ready(Served(f"http://{shown}:{port}/?{urlencode({'key': guard.key})}", host, port))
        await ended.wait()
    finally:
        await runner.cleanup()


async def _listen(loop: asyncio.AbstractEventLoop, host: str, port: int) -> Any:
    import socket

    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        made = socket.socket(found[0][0], socket.SOCK_STREAM)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(found[0][4])
            made.listen(64)
            made.setblocking(False)
        except BaseException:
            made.close()
            raise
    except OSError as error:
        help = "choose another by --port, or let one be found: --port 0"
        raise codes.problem(
            codes.ADDRESS, f"{host} port {port} cannot be had: {error.strerror or error}", help
        ) from error
    return made


def application(guard: Guard) -> web.Application:
    """Return what answers requests."""
    from aiohttp import web

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        answer = guard.judge(request.method, request.headers, request.query, request.cookies)
        if answer == "enter":
            rest = urlencode([(name, value) for name, value in request.query.items() if name != "key"])
            response: web.StreamResponse = web.Response(
                status=303, headers={"Location": request.path + (f"?{rest}" if rest else "")}
            )
            response.set_cookie(
                guard.cookie_name(request.headers["Host"]), guard.key, httponly=True, samesite="Strict", path="/"
            )
        elif answer != "welcome":
            status, words = _WORDS[answer]
            response = _html(web, site.refused(words), status)
        else:
            response = await _answered(web, request, handler)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    app = web.Application(middlewares=[guarded], client_max_size=64 << 10)
    app.router.add_get("/", _page(lambda _: site.overview()))
    app.router.add_get("/results", _page(lambda request: site.results(dict(request.query))))
    app.router.add_get("/results/{id}", _page(lambda request: site.result(request.match_info["id"], guard.changes)))
    app.router.add_get(
        "/results/{id}/page", _page(lambda request: site.report(request.match_info["id"]), REPORT_POLICY)
    )
    app.router.add_get("/results/{id}/json", _json(lambda request: site.as_json(request.match_info["id"])))
    app.router.add_get(
        "/rollouts/{name}",
        _page(lambda request: site.rollout(request.match_info["name"], "still" in request.query, guard.changes)),
    )
    app.router.add_get(
        "/rollouts/{name}/page", _page(lambda request: site.rollout_report(request.match_info["name"]), REPORT_POLICY)
    )
    app.router.add_post("/results/{id}/remove", _change(lambda request: site.remove(request.match_info["id"])))
    app.router.add_post("/rollouts/{name}/abort", _change(lambda request: site.abort(request.match_info["name"])))
    return app


async def _answered(web: Any, request: web.Request, handler: Handler) -> web.StreamResponse:
    """Return a page's answer; what went wrong is a page, too."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        return _html(web, site.refused(f"{error.status}: {error.reason}."), error.status)
    except AnywarpError as error:
        status = 404 if error.diagnostic.code in codes.NOT_FOUND else 500
        return _html(web, site.refused(error.diagnostic.message, error.diagnostic.help, error.diagnostic.code), status)


def _html(web: Any, text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html", charset="utf-8")


def _page(made: Callable[[web.Request], str], policy: str = "") -> Handler:
    """Answer with a page, of a policy of its own perhaps. It is made in a thread: a database may be busy, and a report large."""
    from aiohttp import web

    async def handler(request: web.Request) -> web.StreamResponse:
        response = _html(web, await asyncio.to_thread(made, request))
        if policy:
            response.headers["Content-Security-Policy"] = policy
        return response

    return handler


def _json(made: Callable[[web.Request], Any]) -> Handler:
    from aiohttp import web

    async def handler(request: web.Request) -> web.StreamResponse:
        value = await asyncio.to_thread(made, request)
        return web.Response(text=json.dumps(value, indent=1), content_type="application/json")

    return handler


def _change(done: Callable[[web.Request], str]) -> Handler:
    """Do something, and show the page whose address it returns."""
    from aiohttp import web

    async def handler(request: web.Request) -> web.StreamResponse:
        return web.Response(status=303, headers={"Location": await asyncio.to_thread(done, request)})

    return handler
