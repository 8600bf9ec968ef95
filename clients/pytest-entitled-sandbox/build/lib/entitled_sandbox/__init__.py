"""An App Store simulator for tests of a backend: start it, buy, renew, refund, and let time pass."""

from .calls import SandboxError
from .process import Sandbox
from .store import AppStore, NotRenewedError, Notification, Purchase, Snapshot

__all__ = ["AppStore", "NotRenewedError", "Notification", "Purchase", "Sandbox", "SandboxError", "Snapshot"]
