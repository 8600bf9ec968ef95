"""A TCP relay that delays each direction by a fixed time: a link between machines."""

import asyncio
import contextlib
import multiprocessing
import os
import selectors


class Relay:
    """Relays `port` of this machine; leaving its `with` block ends it. The bytes keep their order and their pace."""

    def __init__(self, port, delay, core=None):
        """`delay` is that of each direction, in seconds."""
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)
        self.process = context.Process(target=_serve, args=(port, delay, core, sender), daemon=True)
        self.process.start()
        self.port = receiver.recv()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.join()


def _serve(port, delay, core, sender):
    if core is not None:
        os.sched_setaffinity(0, {core})
        # A link waits for no processor.
        with contextlib.suppress(PermissionError):
            os.nice(-10)
    # epoll waits for whole milliseconds.
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) as runner:
        runner.run(_relay(port, delay, sender))


async def _relay(port, delay, sender):
    async def accept(reader, writer):
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", port)
        directions = _copy(reader, other_writer, delay), _copy(other_reader, writer, delay)
        await asyncio.gather(*directions, return_exceptions=True)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    sender.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def _copy(reader, writer, delay):
    """Writes what arrives after `delay`, without waiting before it reads more."""
    loop = asyncio.get_running_loop()
    while data := await reader.read(1 << 18):
        loop.call_later(delay, writer.write, data)
    loop.call_later(delay, writer.close)
