"""Small servers for tests: a member of a pool, and an API server of Kubernetes that knows what it is given."""

import contextlib
import copy
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextlib.contextmanager
def serving(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def member(name, state=None):
    """A handler that answers with its name; `state["well"]` False makes its health path fail."""
    state = state if state is not None else {"well": True}

    class Member(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet

        def do_GET(self):
            body = name.encode()
            self.send_response(200 if state.get("well", True) or self.path != "/health" else 503)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.do_GET()

        def log_message(self, format, *args):
            pass

    return Member


class Api:
    """Objects by path, with resourceVersions as the real one has them: a PUT with an old one is a conflict."""

    def __init__(self, objects):
        self.objects = {
            path: {**copy.deepcopy(o), "metadata": {**o.get("metadata", {}), "resourceVersion": "1"}}
            for path, o in objects.items()
        }
        self.written = []
        self.conflicts = 0
        self.after_read = None
        self.lock = threading.Lock()

    def handler(self):
        api = self

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # headers and body in one packet

            def answer(self, status, told):
                body = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def refuse(self, status, reason):
                self.answer(
                    status,
                    {
                        "kind": "Status",
                        "apiVersion": "v1",
                        "status": "Failure",
                        "message": f"{reason}: {self.path}",
                        "reason": reason,
                        "code": status,
                    },
                )

            def body(self):
                if "Content-Length" in self.headers:
                    return json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                parts = []  # kubectl sends what comes from stdin in chunks
                while size := int(self.rfile.readline(), 16):
                    parts.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                return json.loads(b"".join(parts))

            def do_GET(self):
                path = self.path.partition("?")[0]
                if path == "/version":
                    return self.answer(200, {"gitVersion": "v1.34.0"})
                with api.lock:
                    if path not in api.objects:
                        return self.refuse(404, "NotFound")
                    told = copy.deepcopy(api.objects[path])
                    if api.after_read:
                        api.after_read(api)
                return self.answer(200, told)

            def do_PUT(self):
                path, body = self.path.partition("?")[0], self.body()
                with api.lock:
                    if body["metadata"]["resourceVersion"] != api.objects[path]["metadata"]["resourceVersion"]:
                        api.conflicts += 1
                        return self.refuse(409, "Conflict")
                    api.store(path, body)
                return self.answer(200, body)

            def do_POST(self):
                body = self.body()
                path = f"{self.path.partition('?')[0]}/{body['metadata']['name']}"
                with api.lock:
                    if path in api.objects:
                        return self.refuse(409, "AlreadyExists")
                    api.store(path, body)
                return self.answer(201, body)

            def log_message(self, format, *args):
                pass

        return Answers

    def store(self, path, body):
        before = self.objects.get(path, {"metadata": {"resourceVersion": "0"}})
        body["metadata"]["resourceVersion"] = str(int(before["metadata"]["resourceVersion"]) + 1)
        self.objects[path] = body
        self.written.append(copy.deepcopy(body))


def free_port():
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
