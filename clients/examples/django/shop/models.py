"""The purchases of customers."""

from django.db import models


class Purchase(models.Model):
    """One purchase: a subscription with all its renewals, or a product that was bought once."""

    original_transaction_id = models.CharField(primary_key=True, max_length=64)
    # The app account token that the app gave to StoreKit; this backend's id of a customer.
    customer = models.CharField(max_length=64, db_index=True)
    product = models.CharField(max_length=255)
    is_active = models.BooleanField()
    # When Apple signed the latest notification, in milliseconds since 1970: an earlier one changes nothing.
    signed_at = models.BigIntegerField()
