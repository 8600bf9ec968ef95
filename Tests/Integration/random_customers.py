"""Customers who act at random in a sandbox App Store, reproducibly by seed."""

import json
import random
import time
import urllib.request

from harness import CALL_LIMIT, Service, post

APP = "lives"
SECRET = "a secret that Apple knows too"
SUBSCRIPTIONS = {"weekly": ("pro", 2, "P1W"), "monthly": ("pro", 2, "P1M"), "gold": ("pro", 1, "P1M"),
                 "news": ("news", 1, "P1Y")}  # fmt: skip
ONE_TIME = {"unlock": "Non-Consumable", "season": "Non-Renewing Subscription", "coins": "Consumable"}
PRODUCTS = (*SUBSCRIPTIONS, *ONE_TIME)
OFFERS = (("trial", "INTRODUCTORY", "FREE_TRIAL"), ("cheap", "PROMOTIONAL", "PAY_AS_YOU_GO"),
          ("code", "CODE", "PAY_UP_FRONT"))  # fmt: skip


def catalog(secret):
    """The configuration (JSON is valid YAML)."""
    pricing = {"price": 4.99, "currency": "USD"}
    products = {
        name: pricing | {"type": "Auto-Renewable Subscription", "group": group, "level": level, "period": period,
                      "entitlements": [group]}
        for name, (group, level, period) in SUBSCRIPTIONS.items()
    }  # fmt: skip
    products |= {name: pricing | {"type": kind, "entitlements": ["pro"]} for name, kind in ONE_TIME.items()}
    products["season"]["duration"] = "P90D"
    del products["coins"]["entitlements"]
    app = {
        "bundle_id": "com.example.lives", "apple_id": 4321, "environments": ["Sandbox", "Production"],
        "shared_secret": {"file": str(secret)}, "products": products,
    }  # fmt: skip
    return json.dumps({"apps": {APP: app}})



def started(directory, arguments=()):
    """Starts a service that sells the catalog above."""
    directory.mkdir(parents=True, exist_ok=True)
    secret = directory / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    configuration = directory / "catalog.yaml"
    configuration.write_text(catalog(secret))
    return Service(directory / "data", ["--config", configuration, *arguments])


class RandomCustomers:
    """Customers of a service's sandbox; each has a receipt from the app's first release."""

    def __init__(self, service, customers, seed, notified):
        self.service = service
        self.url = f"http://{service.sandbox}"
        self.random = random.Random(seed)
        self.accounts = [f"customer-{number}" for number in range(customers)]
        self.act("grace-period", app=APP, days=16)
        self.act("shared-secret", app=APP, password=SECRET)
        for product in ("monthly", "unlock"):
            self.act("shareable", app=APP, productId=product)
        for name, kind, mode in OFFERS:
            self.act("offers", app=APP, productId="monthly", id=name, type=kind, mode=mode, period="P1M", price=1990)
        if notified:
            self.act("notification-url", app=APP, url=f"http://{service.http}/notifications/{APP}", version=2)
        self.receipts = {account: self.receipt(account, self.random.choice(PRODUCTS)) for account in self.accounts}

    def act(self, action, **members):
        """Performs an action; returns `None` if the App Store rejects it, which is normal for random actions."""
        status, answer = post(f"{self.url}/sandbox/v1/{action}", members)
        assert status in (200, 400), answer
        return answer if status == 200 else None

    def receipt(self, account, product):
        """Buys, and returns the receipt on the device afterwards."""
        order = {"app": APP, "productId": product, "account": account}
        status, answer = post(f"{self.url}/sandbox/v1/documents/app-receipt", order)
        assert status == 200, answer
        self.pause()
        return answer["document"]

    def pause(self):
        """Advances the clock, so that no two actions fall into the same millisecond."""
        self.act("clock/advance", by=f"{self.random.randint(1, 600)}s")

    def live(self, days, each_day):
        """Lets `days` pass, with at most `each_day` actions on each."""
        for _ in range(days):
            for _ in range(self.random.randint(0, each_day)):
                self.step()
                self.pause()
            self.act("clock/advance", by="1d")

    def step(self):
        account = self.random.choice(self.accounts)
        number = self.accounts.index(account)
        own = self.of(account)
        chosen = self.random.choice(own)["transactionId"] if own else "0"
        is_on = self.random.random() < 0.5
        match self.random.randrange(13):
            case 0 | 1 | 2:
                self.act("purchases", app=APP, productId=self.random.choice(PRODUCTS), account=account)
            case 3 | 4:
                offer = self.random.choice(OFFERS)[0]
                self.act("purchases", app=APP, productId="monthly", account=account, offer=offer)
            case 5:
                self.act("auto-renew", transactionId=chosen, enabled=is_on)
            case 6:
                self.act("billing", account=account, fails=is_on)
            case 7:
                self.act("refund", transactionId=chosen)
            case 8:
                self.act("reverse-refund", transactionId=chosen)
            case 9:
                self.act("extend", transactionId=chosen, days=20)
            case 10:
                self.act("join-family", account=account, family=f"family-{number // 4}")
            case 11:
                self.act("leave-family", account=account)
            case _:
                self.act("finish", transactionId=chosen)

    def of(self, account):
        """All transactions of an account."""
        found = self.read(f"accounts/{account}?app={APP}")
        return found["apps"][0]["transactions"]

    def read(self, path):
        with urllib.request.urlopen(f"{self.url}/sandbox/v1/{path}", timeout=CALL_LIMIT) as answer:
            return json.load(answer)

    def delivered(self):
        """Waits until every notification has arrived; returns their number."""
        deadline = time.monotonic() + CALL_LIMIT
        while True:
            notices = self.read("notifications")["notifications"]
            waiting = [notice for notice in notices if notice["attempts"] != ["SUCCESS"]]
            if not waiting:
                return len(notices)
            assert time.monotonic() < deadline, waiting[:3]
            self.act("clock/advance", by="1s")
