"""The service and its peers, all with the same customers."""

from native import OUTPUT, grpc_peer, grpcio_peer
from server import Server, free_port
from store import ENTITLED, seeded_store

CUSTOMERS = 100_000


def entitled():
    listeners = ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--sandbox", "off", "--threads", "1"]
    command = [ENTITLED, "serve", *listeners, "--data", seeded_store(CUSTOMERS)]
    return Server("entitled", command, ready=r"^ready .*\bgrpc=127\.0\.0\.1:(\d+)")


def nghttpd():
    """Serves a small file: the minimum cost of HTTP/2."""
    folder = OUTPUT / "static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small.txt").write_text("entitled: yes, until the end of the month, as far as we know.\n")
    port = free_port()
    return Server("nghttpd", ["nghttpd", "--no-tls", "-n", "1", "-m", 1_000, "-d", folder, port], port=port)


def grpc_cpp():
    return Server("gRPC C++", [grpc_peer(), CUSTOMERS], ready=r"^ready port=(\d+)")


def grpcio():
    return Server("Python grpcio", [*grpcio_peer(), CUSTOMERS], ready=r"^ready port=(\d+)")


SERVERS = (entitled, nghttpd, grpc_cpp, grpcio)


def question(server):
    """The load generator's arguments for a server."""
    return ["--get", "/small.txt"] if server.name == "nghttpd" else ["--customers", CUSTOMERS]
