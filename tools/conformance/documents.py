"""Payloads of Apple's documents, as the App Store would send them for the app of the kit."""

import datetime
import uuid

from authority import compact

BUNDLE_ID = "com.example.conformance"
APP_APPLE_ID = 1234567890
# The products of the kit's app: type, duration in days, level in its group (1 is the highest).
PRODUCTS = {
    "pro.monthly": ("Auto-Renewable Subscription", "21500001"),
    "pro.yearly": ("Auto-Renewable Subscription", "21500001"),
    "plus.monthly": ("Auto-Renewable Subscription", "21500001"),
    "lifetime": ("Non-Consumable", None),
    "coins.100": ("Consumable", None),
}
START = datetime.datetime(2026, 1, 5, 10, tzinfo=datetime.timezone.utc)


def ms(when):
    """Milliseconds since 1970, as Apple writes times."""
    return round(when.timestamp() * 1000)


def at(days=0, hours=0, minutes=0, seconds=0):
    """The instant this long after the beginning of all vectors, in milliseconds since 1970."""
    return ms(START + datetime.timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds))


def identifier(*parts):
    """A UUID that follows from `parts`."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "https://entitled.invalid/conformance/" + "/".join(map(str, parts))))


def without_none(members):
    return {name: value for name, value in members.items() if value is not None}


def transaction(product="pro.monthly", *, number=1, original=None, bought=None, signed=None, **changes):
    """The payload of a signed transaction (Apple: JWSTransactionDecodedPayload); `None` removes a member."""
    kind, group = PRODUCTS[product]
    bought = at() if bought is None else bought
    text = str(2_000_000_900_000_000 + number)
    members = {
        "transactionId": text,
        "originalTransactionId": str(2_000_000_900_000_000 + (original or number)),
        "webOrderLineItemId": str(2_000_000_070_000_000 + number) if group else None,
        "bundleId": BUNDLE_ID,
        "productId": product,
        "subscriptionGroupIdentifier": group,
        "purchaseDate": bought,
        "originalPurchaseDate": at(),
        "expiresDate": bought + 30 * 86_400_000 if group else None,
        "quantity": 1,
        "type": kind,
        "inAppOwnershipType": "PURCHASED",
        "signedDate": bought if signed is None else signed,
        "environment": "Sandbox",
        "transactionReason": "PURCHASE",
        "storefront": "USA",
        "storefrontId": "143441",
        "price": 4990,
        "currency": "USD",
        "appTransactionId": "704289572311021563",
    }
    return without_none(members | changes)


def renewal_info(product="pro.monthly", *, original=1, renews=True, signed=None, expires=None, **changes):
    """The payload of a signed renewal info (Apple: JWSRenewalInfoDecodedPayload); `None` removes a member."""
    signed = at() if signed is None else signed
    members = {
        "originalTransactionId": str(2_000_000_900_000_000 + original),
        "autoRenewProductId": product,
        "productId": product,
        "autoRenewStatus": int(renews),
        "isInBillingRetryPeriod": False,
        "signedDate": signed,
        "environment": "Sandbox",
        "recentSubscriptionStartDate": at(),
        "renewalDate": at(30) if expires is None else expires,
        "renewalPrice": 4990 if renews else None,
        "currency": "USD",
        "appTransactionId": "704289572311021563",
    }
    return without_none(members | changes)


def app_transaction(**changes):
    """The payload of a signed app transaction (Apple: AppTransaction)."""
    members = {
        "receiptType": "Sandbox",
        "appAppleId": 0,
        "bundleId": BUNDLE_ID,
        "applicationVersion": "42",
        "versionExternalIdentifier": 0,
        "receiptCreationDate": at(),
        "originalPurchaseDate": at(),
        "originalApplicationVersion": "1.0",
        "deviceVerification": "cYUsXc53EbYc0pOeXG5d6/31LGHeVGf84sqSN0OrJi5u/j2H89WWKgS8N0hMsMlf",
        "deviceVerificationNonce": "48c8b92d-ce0d-4229-bedf-e61b4f9cfc92",
        "appTransactionId": "704289572311021563",
        "originalPlatform": "iOS",
    }
    return without_none(members | changes)


def notification(kind, subtype=None, *, signed=None, transaction=None, renewal=None, data=None, **changes):
    """The payload of a version 2 notification; `transaction` and `renewal` are signed documents."""
    signed = at() if signed is None else signed
    members = {
        "notificationType": kind,
        "subtype": subtype,
        "notificationUUID": identifier(kind, subtype, signed, transaction, renewal),
        "data": without_none(
            {
                "appAppleId": None,
                "bundleId": BUNDLE_ID,
                "bundleVersion": "42",
                "environment": "Sandbox",
                "signedTransactionInfo": transaction,
                "signedRenewalInfo": renewal,
            }
            | (data or {})
        ),
        "version": "2.0",
        "signedDate": signed,
    }
    return without_none(members | changes)


def body(signed_payload):
    """The body in which Apple sends a notification."""
    return compact({"signedPayload": signed_payload}).decode()
