"""The webhook's certificate in a cluster: made into a secret, and its authority told to the API server.

This is what the chart's jobs do, by the API server's own interface and with the rights of their service account: to read and patch
one secret and one configuration.
"""

from __future__ import annotations

import base64
import datetime
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from anywarp.deploy.webhook import certificates, codes
from anywarp.migrate.shown import shorten

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
ADDRESS = "https://kubernetes.default.svc"
"""Where a pod finds the API server (Kubernetes, Accessing the API from a Pod)."""
RENEWED = datetime.timedelta(days=30)
"""A certificate that ends sooner is made anew."""
_LARGEST = 8 << 20
_PATCH = "application/merge-patch+json"


@dataclass(frozen=True, slots=True)
class Cluster:
    """An API server, and the files by which it is trusted and asked."""

    address: str = ADDRESS
    token: Path = ACCOUNT / "token"
    authority: Path = ACCOUNT / "ca.crt"

    def get(self, path: str) -> dict[str, Any]:
        """Return an object; AnywarpError (Y114) where it cannot be had."""
        return self._ask("GET", path, None)

    def patch(self, path: str, change: dict[str, Any]) -> None:
        """Merge a change into an object (RFC 7396); AnywarpError (Y114) where that is refused."""
        self._ask("PATCH", path, change)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        try:
            context = ssl.create_default_context(cafile=str(self.authority))
            token = self.token.read_text(encoding="ascii").strip()
        except (OSError, ValueError) as error:
            help = "this runs in a pod of the cluster, with a service account: the chart's job does"
            raise codes.problem(codes.CLUSTER, f"the service account cannot be read: {error}", help) from error
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "Content-Type": _PATCH}
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30, context=context) as response:
                found: Any = json.loads(response.read(_LARGEST))
        except urllib.error.HTTPError as error:
            said = shorten(error.read(2000).decode("utf-8", "replace"), 200)
            help = "look whether the chart's Role and ClusterRole are there"
            raise codes.problem(
                codes.CLUSTER, f"the API server refuses {method} {path}: {error.code} {said}", help
            ) from error
        except (OSError, ValueError) as error:
            text = f"the API server at {self.address} does not answer {method} {path}: {shorten(str(error), 200)}"
            raise codes.problem(codes.CLUSTER, text, "look whether the pod may reach it (NetworkPolicy)") from error
        return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def make(cluster: Cluster, namespace: str, secret: str, names: Sequence[str], days: int) -> bool:
    """Put a certificate for `names` into a secret that is there, unless a good one is in it; tell whether one was made."""
    path = f"/api/v1/namespaces/{namespace}/secrets/{secret}"
    held = _data(cluster.get(path))
    if _is_good(held, names):
        return False
    made = certificates.issue(names, days)
    parts = {
        certificates.AUTHORITY: made.authority,
        certificates.CERTIFICATE: made.certificate,
        certificates.KEY: made.key,
    }
    cluster.patch(path, {"data": {name: base64.b64encode(data).decode() for name, data in parts.items()}})
    return True


def publish(cluster: Cluster, namespace: str, secret: str, configuration: str) -> int:
    """Tell the API server which authority signs the webhook's certificate; return for how many webhooks of the configuration."""
    authority = _data(cluster.get(f"/api/v1/namespaces/{namespace}/secrets/{secret}")).get(certificates.AUTHORITY)
    if not authority:
        help = "make it first: anywarp webhook certify --name NAME"
        raise codes.problem(codes.CLUSTER, f"the secret {namespace}/{secret} holds no {certificates.AUTHORITY}", help)
    path = f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{configuration}"
    webhooks = cast(list[dict[str, Any]], cluster.get(path).get("webhooks") or [])
    bundle = base64.b64encode(authority).decode()
    for webhook in webhooks:
        webhook["clientConfig"] = {**webhook.get("clientConfig", {}), "caBundle": bundle}
    cluster.patch(path, {"webhooks": webhooks})  # a merge patch replaces the list, so all of it is sent back
    return len(webhooks)


def _data(secret: dict[str, Any]) -> dict[str, bytes]:
    held = cast(dict[str, str], secret.get("data") or {})
    return {name: base64.b64decode(text) for name, text in held.items()}


def _is_good(held: dict[str, bytes], names: Sequence[str]) -> bool:
    """Tell whether a secret holds a certificate for these names that goes on for a while."""
    if not all(held.get(name) for name in (certificates.AUTHORITY, certificates.CERTIFICATE, certificates.KEY)):
        return False
    try:
        from cryptography import x509
    except ImportError as error:
        raise codes.missing(error) from error
    try:
        found = x509.load_pem_x509_certificate(held[certificates.CERTIFICATE])
        named = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value.get_values_for_type(
            x509.DNSName
        )
    except (ValueError, x509.ExtensionNotFound):
        return False
    until = found.not_valid_after_utc - datetime.datetime.now(datetime.timezone.utc)
    return until > RENEWED and set(names) <= set(named)
