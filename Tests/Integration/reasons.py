"""Whether the errors of methods have the reasons that the contract lists for them: all tests check it in passing."""

import contextlib
import functools
import sys

import grpc
from google.protobuf import descriptor_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2

import contract
from harness import ROOT

sys.path.append(str(ROOT / "tools" / "generator"))
from method_errors import MethodErrors  # noqa: E402  the generator's module

# Errors with other reasons than the contract lists, of any test.
unlisted = set()


@functools.cache
def _table():
    """The reasons by path and code; `*` is every method."""
    files = descriptor_pb2.FileDescriptorSet()
    added = set()

    def add(file):
        if file.name not in added:
            added.add(file.name)
            for dependency in file.dependencies:
                add(dependency)
            file.CopyToProto(files.file.add())

    for service in contract.services.values():
        add(service.file)
    errors = MethodErrors(files)
    table = {"*": errors.every()}
    for file in files.file:
        for service in file.service if file.package == "entitled.v1" else ():
            for method in service.method:
                table[f"/{file.package}.{service.name}/{method.name}"] = errors.of(method)
    return table


def of(service, method):
    """All reasons of a method, whatever their codes."""
    return {reason for path in ("*", f"/{service}/{method}") for reasons in _table()[path].values() for reason in reasons}


def check(path, code, reason):
    """Records an error of a method if the contract does not list it. `code` is gRPC's name in upper case."""
    if path not in _table():
        return
    listed = [*_table()["*"].get(code, ()), *_table()[path].get(code, ())]
    if not any(reason == entry or entry.endswith("*") and reason.startswith(entry[:-1]) for entry in listed):
        unlisted.add((path, code, reason))


def check_json(path, answer):
    """Checks an error of the Connect protocol."""
    for detail in answer.get("details", ()) if isinstance(answer, dict) else ():
        if detail["type"] == "google.rpc.ErrorInfo":
            check(path, answer["code"].upper().replace("CANCELED", "CANCELLED"), detail["debug"]["reason"])


def check_call(path, call):
    """Checks an error of gRPC. The code is the service's: a call that is past its deadline, or was cancelled, has the
    client's code beside the trailers of the service."""
    with contextlib.suppress(Exception):
        trailers = dict(call.trailing_metadata() or ())
        status = status_pb2.Status.FromString(trailers.get("grpc-status-details-bin", b""))
        for detail in status.details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                check(path, code_pb2.Code.Name(status.code), info.reason)


class Interceptor(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Checks the calls of a channel."""

    def intercept_unary_unary(self, continuation, details, request):
        call = continuation(details, request)
        call.add_done_callback(lambda done: check_call(details.method, done))
        return call

    def intercept_unary_stream(self, continuation, details, request):
        call = continuation(details, request)
        call.add_done_callback(lambda done: check_call(details.method, done))
        return call
