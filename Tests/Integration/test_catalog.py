"""GetCatalog: the configured products, and the prices that verified transactions state."""

import grpc
import pytest

import contract
from contract import catalog_service, entitlement, environment, product, receipt_service
from forge import Forger
from harness import CALL_LIMIT

APP = "ocean-journal"
DAY = 86_400_000
CONFIGURATION = """apps:
  ocean-journal:
    bundle_id: com.example.oceanjournal
    environments: [Sandbox, Production]
    apple_id: 1234567890
    bought_before_version: {version: "3.0", entitlements: [archive]}
    products:
      pro.monthly: {type: Auto-Renewable Subscription, group: pro, level: 1, entitlements: [pro, export], period: P1M, price: 4.99, currency: USD, offers: [back3, stay50]}
      basic.monthly: {type: Auto-Renewable Subscription, group: pro, level: 2, entitlements: {pro: limited}, period: P1M, price: 1.99, currency: USD}
      season: {type: Non-Renewing Subscription, duration: P90D, entitlements: [pro], price: 9.99, currency: USD}
      coins: {type: Consumable, price: 0.99, currency: USD}
"""


@pytest.fixture
def shop(start, tmp_path):
    (tmp_path / "entitled.yaml").write_text(CONFIGURATION)
    shop = Shop(start(arguments=["--config", tmp_path / "entitled.yaml"]))
    yield shop
    shop.channel.close()


class Shop:
    def __init__(self, service):
        self.service, self.channel, self.forger = service, service.channel(), Forger(service)
        self.catalogs = contract.catalog_stub(self.channel)
        self.number = 5_000

    def catalog(self, **more):
        return self.catalogs.GetCatalog(catalog_service.GetCatalogRequest(app=APP, **more), timeout=CALL_LIMIT)

    def sell(self, **changed):
        """Submits a transaction of one month of pro.monthly with these members changed."""
        self.number += 1
        signed = self.forger.transaction(
            **{"transactionId": str(self.number), "originalTransactionId": str(self.number), "appAccountToken": None,
               "transactionReason": "PURCHASE"} | changed)
        contract.receipt_stub(self.channel).SubmitTransaction(
            receipt_service.SubmitTransactionRequest(
                app=APP, customer_id=f"c{self.number}", signed_transaction=signed), timeout=CALL_LIMIT)

    def prices(self, name="pro.monthly"):
        (found,) = self.catalog(product_ids=[name]).products
        return [(p.storefront, p.transaction_reason, p.price.milliunits, p.price.currency, p.seen_at.ToMilliseconds())
                for p in found.prices]


def test_the_catalog_has_products_groups_and_entitlements(shop):
    found = shop.catalog()
    assert [p.product_id for p in found.products] == ["basic.monthly", "coins", "pro.monthly", "season"]
    basic, coins, pro, season = found.products
    assert (pro.type, pro.subscription_group, pro.subscription_group_level) == (
        product.PRODUCT_TYPE_AUTO_RENEWABLE_SUBSCRIPTION, "pro", 1)
    assert [(e.name, e.access_level) for e in pro.entitlements] == [
        ("export", entitlement.ACCESS_LEVEL_FULL), ("pro", entitlement.ACCESS_LEVEL_FULL)]
    assert [e.access_level for e in basic.entitlements] == [entitlement.ACCESS_LEVEL_LIMITED]
    assert list(pro.promotional_offer_ids) == ["back3", "stay50"]
    assert (pro.configured_price.milliunits, pro.configured_price.currency, pro.configured_price_period) == (4990, "USD", "P1M")
    assert season.duration == "P90D" and not coins.HasField("subscription_group_level") and not coins.prices
    assert [(e.name, list(e.product_ids)) for e in found.entitlements] == [
        ("archive", []), ("export", ["pro.monthly"]), ("pro", ["basic.monthly", "pro.monthly", "season"])]
    assert [(g.subscription_group, list(g.product_ids)) for g in found.subscription_groups] == [
        ("pro", ["pro.monthly", "basic.monthly"])]
    assert found.environment == environment.ENVIRONMENT_SANDBOX and found.catalog_fingerprint


def test_the_price_of_a_storefront_is_that_of_the_latest_day_in_any_order_of_arrival(shop):
    bought = shop.forger.payload["purchaseDate"]
    german = {"storefront": "DEU", "currency": "EUR"}
    shop.sell(price=5_990, purchaseDate=bought, **german)
    shop.sell(price=4_990, purchaseDate=bought - 30 * DAY, **german)
    shop.sell(price=3_990, purchaseDate=bought - 30 * DAY, transactionReason="RENEWAL", **german)
    shop.sell(price=9_990, storefront="GBR", currency="GBP")
    today = bought - bought % DAY
    assert shop.prices() == [
        ("DEU", "PURCHASE", 5_990, "EUR", today), ("DEU", "RENEWAL", 3_990, "EUR", today - 30 * DAY),
        ("GBR", "PURCHASE", 9_990, "GBP", today)]
    assert shop.catalog(environment=environment.ENVIRONMENT_PRODUCTION, product_ids=["pro.monthly"]).products[0].prices == []
    replay = shop.service
    replay.stop()
    done = replay.command("store", "replay", "--data", replay.data)
    assert done.returncode == 0 and "no differences" in done.stdout, done.stdout + done.stderr


def test_offers_seats_shared_purchases_and_others_without_a_price_count_for_no_price(shop):
    shop.sell(price=1_000, currency="EUR", storefront="DEU", offerType=2, offerIdentifier="back3")
    shop.sell(price=1_000, currency="EUR", storefront="DEU", quantity=3)
    shop.sell(price=1_000, currency="EUR", storefront="DEU", inAppOwnershipType="FAMILY_SHARED")
    shop.sell(price=None, currency="EUR", storefront="DEU")
    assert shop.prices() == []


def test_products_are_paged(shop):
    first = shop.catalog(page_size=3)
    rest = shop.catalog(page_size=3, page_token=first.next_page_token)
    assert [p.product_id for p in [*first.products, *rest.products]] == ["basic.monthly", "coins", "pro.monthly", "season"]
    assert not rest.next_page_token and rest.entitlements == first.entitlements
    assert len(shop.catalog(page_size=5_000).products) == 4, "a size above the limit is capped"
    with pytest.raises(grpc.RpcError) as error:
        shop.catalog(product_ids=["coins"], page_token=first.next_page_token)
    assert contract.reason(error.value) == "INVALID_PAGE_TOKEN"
