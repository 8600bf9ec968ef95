"""The receiver of webhooks, which records the sequence of each event."""

import http.server
import json
import sys
import threading


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A sender that was killed between two requests is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


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

        server = Server((address, 0), Handler)
        self.url = f"http://{address}:{server.server_port}/hooks"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def sequences(self):
        """The sequences of all events that arrived."""
        with self.lock:
            return set(self.received)
