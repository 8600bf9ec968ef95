"""A link between machines that can be cut: a TCP relay that keeps what it cannot deliver, as the network does."""

import contextlib
import socket
import threading


class Link:
    """Relays connections to a port of this machine; leaving its `with` block ends it."""

    def __init__(self, port):
        self.target = port
        self.joined = threading.Event()
        self.joined.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Nothing arrives from now on, in either direction."""
        self.joined.clear()

    def join(self):
        """What was sent meanwhile arrives."""
        self.joined.set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.join()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client):
        self.joined.wait()
        server = socket.create_connection(("127.0.0.1", self.target))
        threading.Thread(target=self._copy, args=(server, client), daemon=True).start()
        self._copy(client, server)

    def _copy(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self.joined.wait()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
