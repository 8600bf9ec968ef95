"""A backend endpoint for an app's purchases, with Python's own HTTP server and the client of `entitled`.

The app posts `{"signedTransaction": "..."}` to /purchases and asks GET /entitlements/pro; the header `x-user` stands for
the backend's own sign-in. `python3 backend.py 127.0.0.1:50051 8000`
"""

import http.server
import json
import sys

from entitled import Client, EntitledError

client = Client(sys.argv[1], app="ocean-journal")


class Backend(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not (user := self.headers.get("x-user")):
            return self.respond(401, {})
        try:
            transaction = str(json.loads(body)["signedTransaction"])
        except (ValueError, LookupError, TypeError):
            return self.respond(400, {})
        try:
            client.submit(user, transaction)
        except EntitledError as error:
            # The app must not finish the transaction: it will submit it again.
            return self.respond(503 if error.is_transient else 422, {"reason": error.reason})
        # Only now may the app finish the transaction: the service has stored it.
        return self.respond(200, {})

    def do_GET(self) -> None:
        if not (user := self.headers.get("x-user")):
            return self.respond(401, {})
        try:
            answer = client.check(user, self.path.removeprefix("/entitlements/"))
        except EntitledError as error:
            return self.respond(503 if error.is_transient else 404, {"reason": error.reason})
        return self.respond(200, {"entitled": answer.entitled, "reason": answer.reason})

    def respond(self, status: int, body: dict[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Logs nothing: requests name users."""


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Backend)
print(f"listening on {server.server_address[1]}", flush=True)
server.serve_forever()
