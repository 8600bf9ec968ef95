"""The receiver of webhooks, which records the sequence of each event."""

import http.server
import json
import threading


class Receiver:
    """A server on a free port of one address."""

    def __init__(self, address):
        self.received, self.lock = set(), threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    self.close_connection = True  # the sender was killed during the request
                    return
                with receiver.lock:
                    receiver.received.add(int(json.loads(body)["data"]["sequence"]))
                try:
                    self.send_response(200)
                    self.send_header("content-length", "0")
                    self.end_headers()
                except OSError:
                    pass  # the sender was killed before the response

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer((address, 0), Handler)
        server.daemon_threads = True
        self.url = f"http://{address}:{server.server_port}/hooks"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def sequences(self):
        """The sequences of all events that arrived."""
        with self.lock:
            return set(self.received)
