"""One world of the sandbox: an App Store with its own accounts, clock and notifications."""

import base64
import dataclasses
import datetime
import json
import urllib.parse
from typing import TYPE_CHECKING, Any, NewType

from .apple import AppleSettings
from .calls import SandboxError, call

if TYPE_CHECKING:
    from .process import Sandbox

#: Everything that happened in a world, as a JSON document.
Snapshot = NewType("Snapshot", dict[str, Any])
_SECOND = datetime.timedelta(seconds=1)


class NotRenewedError(Exception):
    """A subscription that had to renew and did not, for example because its card is declined."""


@dataclasses.dataclass(frozen=True)
class Purchase:
    """A transaction, as the app and the Server API have it."""

    transaction_id: str
    original_transaction_id: str
    product_id: str
    account: str
    #: The JWS that the app gives to your backend.
    signed_transaction: str
    #: The JWS of the renewal info; `None` without a subscription.
    signed_renewal: str | None
    #: Apple's status of a subscription, 1 to 5; `None` without one.
    status: int | None

    @property
    def transaction(self) -> dict[str, Any]:
        """The content of the signed transaction."""
        part = self.signed_transaction.split(".")[1]
        decoded: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        return decoded

    @property
    def expires(self) -> datetime.datetime | None:
        """The end of the paid period; `None` without a subscription."""
        end = self.transaction.get("expiresDate")
        return None if end is None else _time(end)


@dataclasses.dataclass(frozen=True)
class Notification:
    """A notification of the App Store."""

    uuid: str
    #: The type and the subtype, such as `DID_FAIL_TO_RENEW/GRACE_PERIOD`.
    name: str
    #: The results of its delivery attempts, such as `SUCCESS`.
    attempts: list[str]


class AppStore(AppleSettings):
    """An App Store of a test's own. Its actions return after your backend has received their notifications."""

    def __init__(self, sandbox: "Sandbox", world: str, app: str) -> None:
        self.sandbox = sandbox
        #: The name of the world; empty for the one at `/`.
        self.world = world
        #: The app of purchases and settings; the first one of the catalog.
        self.app = app
        self._seen = 0

    @property
    def path(self) -> str:
        return f"/w/{self.world}" if self.world else ""

    def call(self, path: str, body: object = None, method: str | None = None) -> Any:
        """Makes a call of the sandbox's interface, such as `call("faults", {"kind": "drop"})`."""
        return call(f"{self.url}/sandbox/v1/{path}", method or ("GET" if body is None else "POST"), body)

    def act(self, action: str, **members: object) -> dict[str, Any]:
        """Performs an action and delivers its notifications. Raises `SandboxError` if the sandbox refuses it."""
        answer: dict[str, Any] = self.call(action, members)
        self.call("deliver", {})
        return answer

    # Purchases

    def buy(self, product: str, account: str = "customer", **members: object) -> Purchase:
        """Buys a product; `members` are those of the action `purchases`, such as `appAccountToken`."""
        return _purchase(self.act("purchases", app=self.app, productId=product, account=account, **members))

    def latest(self, purchase: Purchase | str) -> Purchase:
        """The latest transaction of a subscription, by a purchase, an id, or `ACCOUNT/PRODUCT`."""
        return _purchase(self.call(f"transactions/{urllib.parse.quote(_id(purchase))}?latest=true"))

    def renew(self, purchase: Purchase | str) -> Purchase:
        """Advances the clock to the next period; returns its transaction. Raises `NotRenewedError` if there is none."""
        before = self.latest(purchase)
        if before.expires is None:
            raise NotRenewedError(f"{before.product_id} is not a subscription")
        now, begin = self.now, _time(before.transaction["purchaseDate"])
        # A renewal may be charged up to a day before its period begins.
        is_charged = begin > now
        next_period = (begin if is_charged else before.expires) + _SECOND
        if next_period > now:
            self.advance(to=next_period)
        after = self.latest(before)
        if after.transaction_id == before.transaction_id and not is_charged:
            raise NotRenewedError(f"{before.product_id} of {before.account} did not renew; its status is {after.status}")
        return after

    def refund(self, purchase: Purchase | str, **members: object) -> None:
        """Refunds a transaction; `members` are `percent` and `reason`."""
        self.act("refund", transactionId=_id(purchase), **members)

    def set_auto_renew(self, purchase: Purchase | str, enabled: bool) -> None:
        """Turns auto-renew on or off."""
        self.act("auto-renew", transactionId=_id(purchase), enabled=enabled)

    def decline_card(self, account: str = "customer") -> None:
        """Lets the charges of an account fail from now on."""
        self.act("billing", account=account, fails=True)

    def accept_card(self, account: str = "customer") -> None:
        """Lets the charges succeed again; a charge in retry succeeds at once."""
        self.act("billing", account=account, fails=False)

    # Time

    @property
    def now(self) -> datetime.datetime:
        """The simulated time."""
        milliseconds: int = self.call("clock")["milliseconds"]
        return _time(milliseconds)

    def advance(self, by: str | datetime.timedelta | None = None, *, to: datetime.datetime | None = None) -> list[str]:
        """Advances the clock by a duration such as `"32d"`, or to an instant; returns the names of the notifications."""
        if isinstance(by, datetime.timedelta):
            by = f"{by // datetime.timedelta(milliseconds=1)}ms"
        body = {"by": by} if to is None else {"to": to.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")}
        names: list[str] = self.call("clock/advance", body)["notifications"]
        return names

    # Notifications

    def send_notifications_to(self, url: str | None, version: int = 2) -> None:
        """Sets the URL of notifications; `None` sends none."""
        self.act("notification-url", app=self.app, version=version, **({} if url is None else {"url": url}))

    @property
    def notifications(self) -> list[Notification]:
        """All notifications in their order."""
        listed = self.call("notifications")["notifications"]
        return [Notification(one["notificationUUID"], one["name"], one["attempts"]) for one in listed]

    def new_notifications(self) -> list[bytes]:
        """The bodies of the notifications since the last call, for a backend that the test calls without a socket."""
        found = self.notifications[self._seen :]
        self._seen += len(found)
        return [self.call(f"notifications/{one.uuid}")["body"].encode() for one in found]

    def deliver(self) -> None:
        """Delivers the notifications that are due, and returns after it."""
        self.call("deliver", {})

    # Worlds

    def snapshot(self) -> Snapshot:
        """Everything that happened, for `restore`."""
        return Snapshot(self.call("snapshot"))

    def restore(self, snapshot: Snapshot) -> None:
        """Continues from a snapshot of this world, or of another one with the same products."""
        self.call("snapshot", snapshot, "PUT")
        self._seen = len(self.notifications)

    def reset(self) -> None:
        """Begins again without accounts, purchases and settings."""
        self.call("reset", {})
        self._seen = 0

    def copy(self) -> "AppStore":
        """Creates another world in the same state, also with the same URL for notifications. The caller removes it."""
        copied = self.sandbox.create("copy", **{"from": self.world or "/"})
        copied.app = self.app
        copied._seen = len(copied.notifications)
        return copied

    def remove(self) -> None:
        """Removes the world. It does nothing if the world does not exist."""
        try:
            call(f"{self.sandbox.url}/sandbox/v1/worlds/{self.world}", "DELETE")
        except SandboxError as error:
            if error.status != 404:
                raise

    def scenario(self, name: str) -> dict[str, Any]:
        """Runs a scenario such as `family`; returns its steps."""
        answer: dict[str, Any] = self.call(f"scenarios/{name}", {"app": self.app})
        self.deliver()
        return answer


def _time(milliseconds: int) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc)


def _id(purchase: Purchase | str) -> str:
    return purchase if isinstance(purchase, str) else purchase.transaction_id


def _purchase(answer: dict[str, Any]) -> Purchase:
    return Purchase(
        answer["transactionId"], answer["originalTransactionId"], answer["productId"], answer["account"],
        answer["signedTransactionInfo"], answer.get("signedRenewalInfo"), answer.get("status"))
