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
        self.lost = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Holds all packets of both directions from now on."""
        self.joined.clear()

    def join(self):
        """Delivers the packets that were held."""
        self.joined.set()

    def lose(self):
        """Drops all packets of the present connections, also their ends; new connections work."""
        self.cut()
        self.lost.append(self.joined)
        self.joined = threading.Event()
        self.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for joined in (*self.lost, self.joined):
            joined.set()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client):
        joined = self.joined
        joined.wait()
        server = socket.create_connection(("127.0.0.1", self.target))
        threading.Thread(target=self._copy, args=(server, client, joined), daemon=True).start()
        self._copy(client, server, joined)

    def _copy(self, source, target, joined):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                joined.wait()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
