"""The certificate in a cluster: an API server of the tests' own, over TLS, that holds one secret and one configuration."""

import base64
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from anywarp.deploy.webhook import certificates, cluster
from anywarp.diagnostics import AnywarpError

SECRET = "/api/v1/namespaces/anywarp/secrets/door-tls"
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/door"
NAMES = ["door.anywarp.svc"]


class Api(BaseHTTPRequestHandler):
    objects: dict
    asked: list

    def do_GET(self):
        self.answer(self.objects.get(self.path))

    def do_PATCH(self):
        change = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, self.headers["Content-Type"]))
        held = self.objects[self.path]
        for key, value in change.items():  # RFC 7396, as far as it is used here
            held[key] = {**(held.get(key) or {}), **value} if isinstance(value, dict) else value
        self.answer(held)

    def answer(self, told):
        allowed = self.headers["Authorization"] == "Bearer secret-token"
        data = json.dumps(told if told is not None and allowed else {"kind": "Status", "message": "forbidden"}).encode()
        self.send_response(200 if told is not None and allowed else 403)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def api(tmp_path):
    Api.objects = {
        SECRET: {"data": None},
        CONFIGURATION: {"webhooks": [{"name": "pods", "rules": [1], "clientConfig": {"service": {"name": "door"}}}]},
    }
    Api.asked = []
    watched = certificates.Watched(*certificates.self_signed(tmp_path / "api", ["127.0.0.1"]))
    server = HTTPServer(("127.0.0.1", 0), Api)
    server.socket = watched.context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    (tmp_path / "token").write_text("secret-token\n")
    address = f"https://127.0.0.1:{server.server_address[1]}"
    yield cluster.Cluster(address, tmp_path / "token", tmp_path / "api" / "ca.crt")
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_certificate_is_made_once_and_made_known(api):
    assert cluster.make(api, "anywarp", "door-tls", NAMES, 90)
    held = {name: base64.b64decode(text) for name, text in Api.objects[SECRET]["data"].items()}
    ssl.create_default_context(cadata=held["ca.crt"].decode())
    assert not cluster.make(api, "anywarp", "door-tls", NAMES, 90)
    assert cluster.publish(api, "anywarp", "door-tls", "door") == 1
    (webhook,) = Api.objects[CONFIGURATION]["webhooks"]
    assert base64.b64decode(webhook["clientConfig"]["caBundle"]) == held["ca.crt"]
    assert webhook["rules"] == [1] and webhook["clientConfig"]["service"] == {"name": "door"}
    assert Api.asked == [(SECRET, "application/merge-patch+json"), (CONFIGURATION, "application/merge-patch+json")]


@pytest.mark.parametrize(("names", "days"), [(["other.anywarp.svc"], 90), (NAMES, 29)])
def test_a_certificate_for_another_name_or_that_ends_soon_is_made_anew(api, names, days):
    cluster.make(api, "anywarp", "door-tls", NAMES, days)
    assert cluster.make(api, "anywarp", "door-tls", names, 90)


def test_what_the_api_server_refuses_is_said(api):
    with pytest.raises(AnywarpError) as caught:
        cluster.make(api, "anywarp", "other", NAMES, 90)
    assert caught.value.diagnostic.code == "Y114" and "403" in caught.value.diagnostic.message
    with pytest.raises(AnywarpError) as caught:
        cluster.publish(api, "anywarp", "door-tls", "door")
    assert "holds no ca.crt" in caught.value.diagnostic.message


def test_another_server_is_not_trusted_with_the_token(api, tmp_path):
    certificates.self_signed(tmp_path / "other", ["127.0.0.1"])
    with pytest.raises(AnywarpError) as caught:
        cluster.make(
            cluster.Cluster(api.address, api.token, tmp_path / "other" / "ca.crt"), "anywarp", "door-tls", NAMES, 90
        )
    assert "CERTIFICATE_VERIFY_FAILED" in caught.value.diagnostic.message
    with pytest.raises(AnywarpError):
        cluster.make(cluster.Cluster(), "anywarp", "door-tls", NAMES, 90)
