"""Receives the App Store's notifications and answers whether a customer is entitled."""

import functools
import json

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from shop.models import Purchase

# In the grace period the customer keeps access.
WITH_ACCESS = {Status.ACTIVE, Status.BILLING_GRACE_PERIOD}


@functools.lru_cache(maxsize=1)
def _verifier(root, bundle_id, environment, app_id) -> SignedDataVerifier:
    is_online = environment is Environment.PRODUCTION
    return SignedDataVerifier([root.read_bytes()], is_online, environment, bundle_id, app_id)


def verifier() -> SignedDataVerifier:
    return _verifier(
        settings.APP_STORE_ROOT, settings.APP_STORE_BUNDLE_ID, Environment(settings.APP_STORE_ENVIRONMENT),
        settings.APP_STORE_APP_ID)  # fmt: skip


@csrf_exempt
@require_POST
def notification(request: HttpRequest) -> HttpResponse:
    try:
        notified = verifier().verify_and_decode_notification(json.loads(request.body)["signedPayload"])
        signed = notified.data and notified.data.signedTransactionInfo
        bought = verifier().verify_and_decode_signed_transaction(signed) if signed else None
    except (VerificationException, ValueError, KeyError, TypeError):
        return HttpResponse(status=400)
    if bought is None or bought.appAccountToken is None:
        return HttpResponse()
    is_active = notified.data.status in WITH_ACCESS if notified.data.status else bought.revocationDate is None
    with transaction.atomic():
        purchase, is_new = Purchase.objects.select_for_update().get_or_create(
            original_transaction_id=bought.originalTransactionId,
            defaults={
                "customer": bought.appAccountToken, "product": bought.productId, "is_active": is_active,
                "signed_at": notified.signedDate})  # fmt: skip
        if not is_new and purchase.signed_at <= notified.signedDate:
            purchase.product, purchase.is_active, purchase.signed_at = bought.productId, is_active, notified.signedDate
            purchase.save()
    return HttpResponse()


@require_GET
def customer(request: HttpRequest, customer: str) -> HttpResponse:
    return JsonResponse({"entitled": Purchase.objects.filter(customer=customer, is_active=True).exists()})
