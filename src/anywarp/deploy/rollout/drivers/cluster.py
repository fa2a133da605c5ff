"""Objects of a Kubernetes cluster, read and replaced by the user's own kubectl: its contexts, credentials and plugins hold here, too.

An object goes back with the resourceVersion that it came with, so a change by somebody else in between is refused by the cluster (409) and
tried again, not lost.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from anywarp.deploy.rollout.problems import DRIVER, problem
from anywarp.diagnostics import AnywarpError

Change = Callable[[dict[str, Any]], bool]
"""Changes an object in place; says whether anything changed."""


class Cluster:
    """A namespace of a cluster."""

    def __init__(self, namespace: str, context: str | None) -> None:
        self.namespace = namespace
        self._context = context

    def path(self, group: str, version: str, plural: str, name: str = "") -> str:
        """Return the path of an object, or of a namespace's collection."""
        return f"/apis/{group}/{version}/namespaces/{self.namespace}/{plural}{'/' + name if name else ''}"

    def get(self, path: str) -> dict[str, Any]:
        """Return an object."""
        return _object(self._kubectl("get", path))

    def change(self, path: str, change: Change) -> dict[str, Any]:
        """Read an object, change it, and put it back; again where somebody else changed it meanwhile."""
        for attempt in range(4):
            found = self.get(path)
            if not change(found):
                return found
            try:
                return _object(self._kubectl("replace", path, found))
            except AnywarpError as error:
                if attempt == 3 or (
                    "Conflict" not in error.diagnostic.message and "modified" not in error.diagnostic.message
                ):
                    raise
        raise AssertionError

    def put(self, collection: str, made: dict[str, Any]) -> None:
        """Create an object, or replace the one of that name."""
        path = f"{collection}/{made['metadata']['name']}"
        try:
            found = self.get(path)
        except AnywarpError as error:
            if "NotFound" not in error.diagnostic.message and "not found" not in error.diagnostic.message:
                raise
            self.create(collection, made)
            return
        if found.get("spec") != made["spec"]:
            found["spec"] = made["spec"]
            self._kubectl("replace", path, found)

    def create(self, collection: str, made: dict[str, Any]) -> None:
        """Create an object in a collection."""
        self._kubectl("create", collection, made)

    def text(self, path: str) -> str:
        """Return what lies at a path, as it is."""
        return self._kubectl("get", path)

    def version(self) -> str:
        """Return the cluster's version."""
        return str(_object(self._kubectl("get", "/version")).get("gitVersion", "of an unknown version"))

    def _kubectl(self, verb: str, path: str, body: dict[str, Any] | None = None) -> str:
        binary = shutil.which("kubectl")
        if binary is None:
            raise problem(DRIVER, "there is no kubectl", "install it, or choose another driver in the plan")
        command = [
            binary,
            *(["--context", self._context] if self._context else []),
            "--request-timeout=20s",
            verb,
            "--raw",
            path,
        ]
        given = None
        if body is not None:
            command += ["-f", "-"]
            given = json.dumps(body)
        try:
            said = subprocess.run(
                command,
                input=given,
                capture_output=True,
                text=True,
                timeout=40,
                stdin=None if given else subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise problem(
                DRIVER, f"the cluster did not answer {verb} {path} in 40 s", "see `kubectl cluster-info`"
            ) from None
        if said.returncode:
            told = " ".join(said.stderr.split())[:500]
            raise problem(
                DRIVER, f"kubectl {verb} {path}: {told}", "see that the object exists and your role may change it"
            )
        return said.stdout


def _object(text: str) -> dict[str, Any]:
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise problem(
            DRIVER, f"the cluster answers no JSON object: {text[:100]!r}", "is this the address of a cluster?"
        )
    return found  # pyright: ignore[reportUnknownVariableType]


def missing(what: str, where: str) -> AnywarpError:
    """Return the error for a part that an object lacks."""
    return problem(
        DRIVER, f"{where} has no {what}", "see the plan's `driver`; docs/rollout.md says what each driver changes"
    )
