"""The key of an endpoint: from a variable of the environment that the user names, sent to that endpoint only, and never shown or kept."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from anywarp.check.bundle.problems import shown
from anywarp.diagnostics import AnywarpError, Diagnostic

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_KEY = re.compile(r"[!-~]{1,4096}")


@dataclass(frozen=True)
class Key:
    """A key; its text does not show where it is printed."""

    text: str = field(repr=False)

    def hide(self, text: str) -> str:
        """Return a text that somebody else wrote without the key in it."""
        return text.replace(self.text, "...")


def read(name: str | None, environment: Mapping[str, str]) -> Key | None:
    """Return the key in the variable of that name, None where no name is given; AnywarpError (V044)."""
    if name is None:
        return None
    if _NAME.fullmatch(name) is None:  # not shown: it may be the key itself
        raise _no("--key-from wants the name of a variable of the environment, and was given something else")
    if not environment.get(name):
        raise _no(f"the environment has no variable {name}, or it is empty")
    text = environment[name].strip()
    if _KEY.fullmatch(text) is None:
        raise _no(
            f"what the variable {name} holds cannot be sent as a key: it is too long, or has spaces or other characters than ASCII's"
        )
    return Key(text)


def _no(text: str) -> AnywarpError:
    return AnywarpError(Diagnostic("V044", text, help="export OPENAI_API_KEY=..., and give --key-from OPENAI_API_KEY"))


class _Stay(urllib.request.HTTPRedirectHandler):
    """Goes where it was sent, and nowhere else: what comes next would be sent the key, too."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        return None


def opener(url: str, key: Key | None) -> urllib.request.OpenerDirector:
    """Return what opens a URL. With a key, no redirection is followed, and without TLS no proxy is between, which would read it."""
    if key is None:
        return urllib.request.build_opener()
    plain = urlsplit(url).scheme == "http"
    return urllib.request.build_opener(_Stay(), *([urllib.request.ProxyHandler({})] if plain else []))


def headers(key: Key | None) -> dict[str, str]:
    """Return the headers that carry the key."""
    return {} if key is None else {"Authorization": f"Bearer {key.text}"}


def told(text: object, key: Key | None) -> str:
    """Return what an endpoint or a library says, fit to be shown."""
    return shown(key.hide(str(text)) if key is not None else text)
