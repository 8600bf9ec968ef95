"""Python's view of proto/: messages and stubs, generated when the tests start."""

import importlib
import pathlib
import sys
import tempfile

from google.rpc import error_details_pb2
from grpc import RpcError, StatusCode  # noqa: F401  re-exported for the tests
from grpc_status import rpc_status
from grpc_tools import protoc

from harness import ROOT

# Removed when the interpreter exits. Only our own files: Python packages ship those of gRPC and Google.
_generated = tempfile.TemporaryDirectory(prefix="entitled-contract-")


def _generate():
    proto = ROOT / "proto"
    google = pathlib.Path(protoc.__file__).parent / "_proto"
    files = sorted(str(file.relative_to(proto)) for file in proto.glob("entitled/v1/*.proto"))
    # In a folder with another name than gRPC's package, because Python has one package per name.
    tests = pathlib.Path(_generated.name, "proto", "interop")
    tests.mkdir(parents=True)
    for file in ROOT.glob("tools/interop-server/proto/grpc/testing/*.proto"):
        (tests / file.name).write_text(file.read_text().replace('"grpc/testing/', '"interop/'))
    interop = sorted(str(file.relative_to(tests.parent)) for file in tests.glob("*.proto"))
    conformance = ROOT / "tools" / "interop-server" / "proto"
    out = _generated.name
    folders = [f"-I{proto}", f"-I{tests.parent}", f"-I{conformance}", f"-I{google}"]
    files += [*interop, "connectrpc/conformance/v1/service.proto"]
    assert protoc.main(["protoc", *folders, f"--python_out={out}", f"--grpc_python_out={out}", *files]) == 0
    sys.path.insert(0, out)
    # The package of Connect's client has the same name as that of the conformance messages.
    importlib.import_module("connectrpc").__path__.append(f"{out}/connectrpc")


_generate()
entitlement = importlib.import_module("entitled.v1.entitlement_pb2")
access = importlib.import_module("entitled.v1.access_pb2")
environment = importlib.import_module("entitled.v1.environment_pb2")
product = importlib.import_module("entitled.v1.product_pb2")
entitlement_service = importlib.import_module("entitled.v1.entitlement_service_pb2")
receipt_service = importlib.import_module("entitled.v1.receipt_service_pb2")
app_store_service = importlib.import_module("entitled.v1.app_store_service_pb2")
notification_service = importlib.import_module("entitled.v1.notification_service_pb2")
catalog_service = importlib.import_module("entitled.v1.catalog_service_pb2")
webhook_service = importlib.import_module("entitled.v1.webhook_service_pb2")
audit_service = importlib.import_module("entitled.v1.audit_service_pb2")
customer_service = importlib.import_module("entitled.v1.customer_service_pb2")
status_service = importlib.import_module("entitled.v1.status_service_pb2")
device_check_service = importlib.import_module("entitled.v1.device_check_service_pb2")
report_service = importlib.import_module("entitled.v1.report_service_pb2")
retention_messaging_service = importlib.import_module("entitled.v1.retention_messaging_service_pb2")
segment_service = importlib.import_module("entitled.v1.segment_service_pb2")
interop_messages = importlib.import_module("interop.messages_pb2")
interop_empty = importlib.import_module("interop.empty_pb2")
conformance_messages = importlib.import_module("connectrpc.conformance.v1.service_pb2")
conformance_services = importlib.import_module("connectrpc.conformance.v1.service_pb2_grpc")
interop_services = importlib.import_module("interop.test_pb2_grpc")
entitlement_stub = importlib.import_module("entitled.v1.entitlement_service_pb2_grpc").EntitlementServiceStub
receipt_stub = importlib.import_module("entitled.v1.receipt_service_pb2_grpc").ReceiptServiceStub
app_store_stub = importlib.import_module("entitled.v1.app_store_service_pb2_grpc").AppStoreServiceStub
notification_stub = importlib.import_module(
    "entitled.v1.notification_service_pb2_grpc"
).NotificationServiceStub
catalog_stub = importlib.import_module("entitled.v1.catalog_service_pb2_grpc").CatalogServiceStub
webhook_stub = importlib.import_module("entitled.v1.webhook_service_pb2_grpc").WebhookServiceStub
audit_stub = importlib.import_module("entitled.v1.audit_service_pb2_grpc").AuditServiceStub
customer_stub = importlib.import_module("entitled.v1.customer_service_pb2_grpc").CustomerServiceStub
status_stub = importlib.import_module("entitled.v1.status_service_pb2_grpc").StatusServiceStub
device_check_stub = importlib.import_module("entitled.v1.device_check_service_pb2_grpc").DeviceCheckServiceStub
report_stub = importlib.import_module("entitled.v1.report_service_pb2_grpc").ReportServiceStub
retention_messaging_stub = importlib.import_module(
    "entitled.v1.retention_messaging_service_pb2_grpc"
).RetentionMessagingServiceStub
segment_stub = importlib.import_module("entitled.v1.segment_service_pb2_grpc").SegmentServiceStub
services = {
    name: importlib.import_module(f"entitled.v1.{file}_pb2").DESCRIPTOR.services_by_name[name]
    for name, file in {
        "EntitlementService": "entitlement_service",
        "ReceiptService": "receipt_service",
        "DeviceCheckService": "device_check_service",
        "ReportService": "report_service",
        "RetentionMessagingService": "retention_messaging_service",
        "SegmentService": "segment_service",
        "NotificationService": "notification_service",
        "AppStoreService": "app_store_service",
        "AuditService": "audit_service",
        "CatalogService": "catalog_service",
        "CustomerService": "customer_service",
        "StatusService": "status_service",
        "WebhookService": "webhook_service",
    }.items()
}


def role(name):
    """The role that a call of `Service/Method` needs; empty if every caller may call."""
    service, method = name.split("/")
    rule = services[service].methods_by_name[method].GetOptions().Extensions[access.access]
    return "" if rule.any_role else access.Access.Role.Name(rule.role).removeprefix("ROLE_").lower()


def details(error):
    """The google.rpc details of a gRPC error, by message name: {"ErrorInfo": …, "BadRequest": …}."""
    status = rpc_status.from_call(error)
    found = {}
    for compressed in status.details if status else ():
        name = compressed.type_url.rsplit(".", 1)[-1]
        message = getattr(error_details_pb2, name)()
        assert compressed.Unpack(message)
        found[name] = message
    return found


def reason(error):
    """The stable reason of a gRPC error."""
    info = details(error)["ErrorInfo"]
    assert info.domain == "entitled"
    return info.reason


def violations(error):
    """The fields that a gRPC error names as invalid."""
    return [violation.field for violation in details(error)["BadRequest"].field_violations]
