"""SubmitTransactions: an app restores its purchases in one call."""

import grpc
import pytest

import contract
from contract import StatusCode, receipt_service
from forge import payload_of
from harness import CALL_LIMIT
from test_main_job import check, submit

APP = "ocean-journal"


def restore(receipts, customer, purchases, **more):
    submissions = [
        receipt_service.SubmittedDocuments(signed_transaction=p) if isinstance(p, str) else p for p in purchases]
    request = receipt_service.SubmitTransactionsRequest(
        app=APP, customer_id=customer, submissions=submissions, **more)
    return receipts.SubmitTransactions(request, timeout=CALL_LIMIT).results


def test_each_submission_has_its_own_result_in_order(service, receipts, entitlements, customer):
    shells = [service.buy("shells.100")["signedTransactionInfo"] for _ in range(20)]
    taken = service.buy("shells.100")
    submit(receipts, f"{customer}-other", taken)
    pro = service.buy("pro.monthly")
    documents = receipt_service.SubmittedDocuments(
        signed_transaction=pro["signedTransactionInfo"], signed_renewal_info=pro["signedRenewalInfo"])
    results = restore(
        receipts, customer, [*shells, "a.b.c", taken["signedTransactionInfo"], documents, receipt_service.SubmittedDocuments()])
    assert [r.response.transaction.transaction_id for r in results[:20]] == [
        payload_of(document)["transactionId"] for document in shells]
    codes = [result.error.code for result in results]
    assert codes[:20] == [0] * 20 and codes[22] == 0
    assert codes[20] == codes[23] == StatusCode.INVALID_ARGUMENT.value[0]
    assert codes[21] == StatusCode.FAILED_PRECONDITION.value[0]
    assert results[22].response.renewal_info.will_auto_renew
    assert results[21].error.details, "the error has its reason"
    assert check(entitlements, customer).entitled
    again = restore(receipts, customer, [*shells, documents])
    assert all(result.response.already_known for result in again)


@pytest.mark.parametrize("count", [0, 101])
def test_a_request_has_1_to_100_submissions(receipts, customer, count):
    with pytest.raises(grpc.RpcError) as error:
        restore(receipts, customer, ["a.b.c"] * count)
    assert contract.violations(error.value) == ["submissions"]
