"""Server reflection, in both versions: clients like grpcurl can call this service without its proto files."""

import time

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from harness import CALL_LIMIT

NOT_FOUND = 5
# The two versions differ only in the name of the package.
VERSIONS = ["grpc.reflection.v1", "grpc.reflection.v1alpha"]


@pytest.fixture(params=VERSIONS)
def query(request, channel):
    """Sends all requests on one stream; returns the responses in order."""
    method = channel.stream_stream(
        f"/{request.param}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )

    def query(*members):
        requests = [reflection_pb2.ServerReflectionRequest(**member) for member in members]
        return list(method(iter(requests), timeout=CALL_LIMIT))

    return query


def files(answer):
    found = answer.file_descriptor_response.file_descriptor_proto
    return {f.name: f for f in map(descriptor_pb2.FileDescriptorProto.FromString, found)}


def test_the_services_are_listed(query):
    [answer] = query({"list_services": ""})
    names = {service.name for service in answer.list_services_response.service}
    assert names >= {
        "entitled.v1.EntitlementService", "entitled.v1.ReceiptService", "grpc.health.v1.Health",
    }  # fmt: skip


@pytest.mark.parametrize(
    "symbol",
    [
        "entitled.v1.EntitlementService",
        "entitled.v1.EntitlementService.Check",
        "entitled.v1.CheckRequest",
        "entitled.v1.CheckRequest.customer_id",
        "entitled.v1.EntitlementState",
    ],
)
def test_a_file_is_found_by_a_symbol_in_it(query, symbol):
    [answer] = query({"file_containing_symbol": symbol})
    assert any(name.startswith("entitled/v1/entitlement") for name in files(answer))


def test_large_answers_wait_for_each_other(query):
    """Thirty bytes of anyone ask for each of them."""
    query({"list_services": ""})
    start = time.monotonic()
    answers = query(*[{"file_containing_symbol": "entitled.v1.CustomerService"}] * 60)
    # Those of a tenth of a second do not wait, and the last one is not waited for.
    size = sum(answer.ByteSize() for answer in answers[1:])
    assert time.monotonic() - start > size / (32 << 20) - 0.1 > 0.1


def test_a_file_is_found_by_its_name(query):
    [answer] = query({"file_by_filename": "entitled/v1/receipt_service.proto"})
    file = files(answer)["entitled/v1/receipt_service.proto"]
    assert [service.name for service in file.service] == ["ReceiptService"]


def test_an_unknown_name_is_an_error_response_and_the_stream_continues(query):
    answers = query(
        {"file_containing_symbol": "no.such.Symbol"},
        {"file_by_filename": "no/such/file.proto"},
        {"all_extension_numbers_of_type": "no.such.Type"},
        {"list_services": ""},
    )
    assert [answer.error_response.error_code for answer in answers[:3]] == [NOT_FOUND] * 3
    assert answers[3].list_services_response.service


def test_the_extensions_of_a_message_are_listed(query):
    numbers, none = query(
        {"all_extension_numbers_of_type": "google.protobuf.MethodOptions"},
        {"all_extension_numbers_of_type": "google.rpc.Status"},
    )
    # The access and the errors of a method.
    number, _ = numbers.all_extension_numbers_response.extension_number
    assert numbers.all_extension_numbers_response.base_type_name == "google.protobuf.MethodOptions"
    assert none.WhichOneof("message_response") == "all_extension_numbers_response"
    assert not none.all_extension_numbers_response.extension_number
    wanted = {"containing_type": "google.protobuf.MethodOptions", "extension_number": number}
    [answer] = query({"file_containing_extension": wanted})
    assert "entitled/v1/access.proto" in files(answer)


def test_the_files_form_a_complete_api(channel):
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    check = pool.FindServiceByName("entitled.v1.EntitlementService").FindMethodByName("Check")
    assert check.input_type.full_name == "entitled.v1.CheckRequest"
    assert check.output_type.fields_by_name["evaluated_at"].message_type.full_name == "google.protobuf.Timestamp"
