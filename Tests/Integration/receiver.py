"""A webhook receiver: records requests and responds as the test specifies."""

import dataclasses
import http.server
import json
import threading

from standardwebhooks.webhooks import Webhook

WAIT_LIMIT = 30


@dataclasses.dataclass
class Request:
    path: str
    headers: dict
    body: bytes

    @property
    def id(self):
        return self.headers["webhook-id"]

    @property
    def data(self):
        return json.loads(self.body)["data"]

    @property
    def sequence(self):
        return int(self.data["sequence"])

    def verified(self, secret):
        """The body, if it was signed with this secret within the tolerance; raises otherwise."""
        return Webhook(secret).verify(self.body, self.headers)


class Receiver:
    """A server on a free port; `answer(request)` returns a status, or a status and headers."""

    def __init__(self, answer=lambda request: 200):
        self.answer = answer
        self.requests = []
        self._arrival = threading.Condition()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    self.close_connection = True  # the sender was killed during the request
                    return
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver._answer(self, Request(self.path, headers, body))

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/hooks"
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()

    def _answer(self, handler, request):
        answer = self.answer(request)
        status, headers = answer if isinstance(answer, tuple) else (answer, {})
        with self._arrival:
            self.requests.append((request, status))
            self._arrival.notify_all()
        try:
            handler.send_response(status)
            for name, value in {"content-length": "0", **headers}.items():
                handler.send_header(name, value)
            handler.end_headers()
        except OSError:
            pass  # the sender was killed before the response

    @property
    def accepted(self):
        """The requests answered with 200, in order of arrival."""
        return [request for request, status in list(self.requests) if status == 200]

    def wait(self, condition, limit=WAIT_LIMIT):
        """Waits until the condition holds for this receiver; checks after each request."""
        with self._arrival:
            assert self._arrival.wait_for(lambda: condition(self), limit), [
                (status, request.body[:200]) for request, status in self.requests
            ]

    def close(self):
        self._server.shutdown()
        self._server.server_close()
