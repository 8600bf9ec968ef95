"""A server on a free port whose responses a function of the test makes."""

import dataclasses
import http.server
import json
import threading


@dataclasses.dataclass
class Request:
    method: str
    path: str
    # The names are in lower case.
    headers: dict
    body: bytes


def unknown_transaction(seen):
    """Apple's answer to a transaction id that it does not have; appends the headers of each request to `seen`."""

    def answer(request):
        seen.append(request.headers)
        return 404, {"errorCode": 4040010, "errorMessage": "Transaction id not found."}

    return answer


class StubServer:
    """`answer(request)` returns a status and a body: a text, bytes, or a document that becomes JSON."""

    def __init__(self, answer, content_type="application/json"):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def respond(self):
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(int(headers.get("content-length", 0)))
                status, content = answer(Request(self.command, self.path, headers, body))
                if not isinstance(content, (str, bytes)):
                    content = json.dumps(content)
                content = content.encode() if isinstance(content, str) else content
                self.send_response(status)
                self.send_header("content-type", content_type)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = respond

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
