"""Documents signed by Apple, and the test data of Apple's libraries, verified through the public API."""

import pytest

import contract
from contract import receipt_service
from harness import CALL_LIMIT, TESTDATA, Service

CONFIGURATION = """\
apps:
  example:
    bundle_id: com.example
    apple_id: 1234
    environments: [Sandbox]
    products:
      com.example.product:
        type: Non-Consumable
        entitlements: [pro]
trusted_roots:
  - environment: Sandbox
    certificate: {root}
"""


def inspect(service, **request):
    with service.channel() as channel:
        return contract.receipt_stub(channel).Inspect(
            receipt_service.InspectRequest(**request), timeout=CALL_LIMIT)


def rejection(service, app, name):
    """The reason for which a mock document is rejected as a transaction."""
    document = (TESTDATA / "apple-asl" / "mock_signed_data" / name).read_text().strip()
    request = receipt_service.SubmitTransactionRequest(app=app, customer_id="c", signed_transaction=document)
    with service.channel() as channel, pytest.raises(contract.RpcError) as error:
        contract.receipt_stub(channel).SubmitTransaction(request, timeout=CALL_LIMIT)
    return contract.reason(error.value)


def test_a_renewal_info_signed_by_apple_is_verified_but_belongs_to_another_app(service, testdata):
    [file] = testdata.glob("genuine/*_renewalinfo_*.jws")
    inspected = inspect(service, app="ocean-journal", document=file.read_text().strip())
    assert inspected.kind == receipt_service.DOCUMENT_KIND_SIGNED_RENEWAL_INFO
    assert "2000000335310644" in inspected.payload_json
    # A renewal info has no bundle id, so only Apple's signature can be verified.
    assert (inspected.verified, inspected.reason) == (True, "VERIFIED")


def test_a_flipped_bit_is_detected(service, testdata):
    [file] = testdata.glob("genuine/*_renewalinfo_*.jws")
    document = file.read_text().strip()
    index = document.index(".") + 40
    document = document[:index] + ("A" if document[index] != "A" else "B") + document[index + 1 :]
    inspected = inspect(service, app="ocean-journal", document=document)
    assert not inspected.verified


@pytest.mark.parametrize("name", ["transactionInfo", "renewalInfo", "testNotification"])
def test_apples_mock_data_is_rejected_without_its_root(service, testdata, name):
    assert rejection(service, "ocean-journal", name) == "UNTRUSTED_ROOT"


def test_apples_mock_data_without_certificates_is_rejected(service, testdata):
    assert rejection(service, "ocean-journal", "missingX5CHeaderClaim") == "WRONG_CERTIFICATE_COUNT"


@pytest.mark.parametrize("name", ["xcode-signed-transaction", "xcode-signed-app-transaction"])
def test_documents_signed_by_xcode_are_recognised_and_rejected(service, testdata, name):
    document = (testdata / "apple-asl" / "xcode" / name).read_text().strip()
    inspected = inspect(service, app="ocean-journal", document=document)
    assert not inspected.verified
    assert inspected.reason == "XCODE_NOT_ALLOWED"
    assert '"Xcode"' in inspected.payload_json


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A service for the app of Apple's mock data, which trusts their test root for the sandbox."""
    root = TESTDATA / "apple-asl" / "certs" / "testCA.pem"
    if not root.exists():
        pytest.skip(f"no third-party test data at {TESTDATA}; set ENTITLED_TESTDATA")
    folder = tmp_path_factory.mktemp("example")
    configuration = folder / "entitled.yaml"
    configuration.write_text(CONFIGURATION.format(root=root))
    service = Service(folder / "data", ["--config", configuration])
    yield service
    service.stop()


@pytest.mark.parametrize(
    "name, reason",
    [
        # Verified under this root and for this app, but an incomplete transaction.
        ("transactionInfo", "MISSING_FIELD"),
        # The mock notification has its bundle id at another path.
        ("testNotification", "MISSING_FIELD"),
        ("missingX5CHeaderClaim", "WRONG_CERTIFICATE_COUNT"),
    ],
)
def test_apples_mock_data_is_verified_under_its_configured_root(example, name, reason):
    assert rejection(example, "example", name) == reason


def test_a_configured_root_is_trusted_besides_apples_roots(example):
    [file] = TESTDATA.glob("genuine/*_renewalinfo_*.jws")
    assert inspect(example, app="example", document=file.read_text().strip()).verified


XCODE = """\
apps:
  birds:
    bundle_id: com.example.naturelab.backyardbirds.example
    environments: [Xcode]
    products:
      pass.premium: {type: Auto-Renewable Subscription, group: pass, entitlements: [pro], period: P1M}
"""


def test_a_purchase_of_xcode_with_the_id_0_identifies_no_purchase(tmp_path, testdata):
    configuration = tmp_path / "entitled.yaml"
    configuration.write_text(XCODE)
    service = Service(tmp_path / "data", ["--config", configuration])
    folder = testdata / "apple-asl" / "xcode"
    transaction = (folder / "xcode-signed-transaction").read_text().strip()
    receipt = (folder / "xcode-app-receipt-with-transaction").read_text().strip()
    with service.channel() as channel:
        receipts = contract.receipt_stub(channel)
        for send in (
            lambda: receipts.SubmitTransaction(
                receipt_service.SubmitTransactionRequest(app="birds", customer_id="c", signed_transaction=transaction),
                timeout=CALL_LIMIT),
            lambda: receipts.SubmitReceipt(
                receipt_service.SubmitReceiptRequest(app="birds", customer_id="c", receipt_base64=receipt),
                timeout=CALL_LIMIT),
        ):  # fmt: skip
            with pytest.raises(contract.RpcError) as error:
                send()
            assert contract.reason(error.value) == "TRANSACTION_ID_ZERO"
    for document in (transaction, receipt):
        inspected = inspect(service, app="birds", document=document)
        assert (inspected.verified, inspected.reason) == (False, "TRANSACTION_ID_ZERO")
    service.stop()
