"""Client of `entitled`: `Client` for threads, `AsyncClient` for asyncio, `TokenVerifier` for offline tokens."""

from entitled.aio import AsyncClient
from entitled.client import Client
from entitled.errors import EntitledError

__all__ = ["AsyncClient", "Client", "EntitledError"]
