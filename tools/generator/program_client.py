"""The Swift functions of `EntitledClient`, with which the program calls the unary rpcs of the contract."""

import c_tables
from services import function
from swift import swift_type

HEADER = f"""// {c_tables.COMMAND}
// swift-format-ignore-file

package import Wire

"""


def requests(file, service):
    for method in service.method:
        if method.client_streaming or method.server_streaming:
            continue
        path = f"/{file.package}.{service.name}/{method.name}"
        request, response = swift_type(method.input_type), swift_type(method.output_type)
        yield f"  /// Calls `{path[1:]}` with a deadline of `timeoutSeconds`."
        yield f"  package func {function(method)}("
        yield f"    _ request: {request}, timeoutSeconds: Int64 = 30"
        yield f"  ) async throws(ClientError) -> {response} {{"
        yield f'    try await call("{path}", request, timeoutSeconds: timeoutSeconds)'
        yield "  }\n"


def sources(descriptor_set):
    """The files by name, one for each service of the package `entitled.v1`."""
    for file in descriptor_set.file:
        if file.package != "entitled.v1":
            continue
        for service in file.service:
            lines = [f"/// The unary rpcs of `{file.package}.{service.name}`.", "extension ClientConnection {"]
            lines += requests(file, service)
            lines[-1] = lines[-1].rstrip("\n")
            yield f"ClientConnection+{service.name}.swift", HEADER + "\n".join([*lines, "}", ""])
