"""The Swift protocols of the services: one requirement for each rpc, and the list of methods that they make."""

import re

import c_tables
from swift import KEYWORDS, Comments, camel, swift_type

HEADER = f"""// {c_tables.COMMAND}
// swift-format-ignore-file

internal import RPC
internal import Wire

"""


def function(method):
    name = method.name[0].lower() + method.name[1:]
    return f"`{name}`" if name in KEYWORDS else name


def requirement(method, rule):
    request, response = swift_type(method.input_type), swift_type(method.output_type)
    message = f"RequestReader<{request}>" if method.client_streaming else request
    if rule.on_event_loop:
        result = "UnaryResult" if rule.may_defer else "Reply"
        return f"_ request: EncodedRequest<{request}>, _ call: CallContext) throws(Status) -> {result}"
    if method.server_streaming:
        requests = "requests" if method.client_streaming else "request"
        return (f"_ {requests}: {message}, _ responses: ResponseWriter<{response}>, _ call: CallContext"
                ") async throws(Status)")
    return f"_ request: {message}, _ call: CallContext) async throws(Status) -> {response}"


def kind(method, rule):
    if rule.on_event_loop:
        return "eventLoop"
    if method.client_streaming:
        return "bidirectional" if method.server_streaming else "clientStreaming"
    return "serverStreaming" if method.server_streaming else "asyncUnary"


def is_stamped(method, messages):
    """Whether the response gets the position of the store after the call, in the app that the request names."""
    def has(type_name, field):
        return any(f.name == field and f.type == f.TYPE_STRING for f in messages[type_name.strip(".")].field)
    is_unary = not method.client_streaming and not method.server_streaming
    return is_unary and has(method.output_type, "position") and has(method.input_type, "app")


def protocol(name, conformance, summary, file, service, rpcs, messages, docs):
    """One protocol and the methods that an implementation of it makes. `rpcs` are pairs of method and rule; `docs` are the
    comments of the contract by method."""
    stamped = [method for method, rule in rpcs if not rule.on_event_loop and is_stamped(method, messages)]
    lines = [f"/// {summary}", f"protocol {name}{conformance} {{"]
    lines += ["  var context: ServiceContext { get }"] if stamped else []
    for method, rule in rpcs:
        lines += [*docs[method.name], f"  func {function(method)}({requirement(method, rule)}"]
    lines += ["}", "", f"extension {name} {{", "  /// The methods in the order of the contract.",
              "  var methods: [Method] {", "    ["]
    for method, rule in rpcs:
        handler = f"context.positions.stamping({function(method)})" if method in stamped else function(method)
        lines.append(f'      .{kind(method, rule)}("/{file.package}.{service.name}/{method.name}", {handler}),')
    lines += ["    ]", "  }", "}", ""]
    for method, _ in rpcs:
        lines += repeatable(method, messages)
    return lines


def repeatable(method, messages):
    """The extension of a request with an idempotency key: its response, and the customers that it names."""
    names = [field.name for field in messages[method.input_type.strip(".")].field]
    if "idempotency_key" not in names:
        return []
    customers = [camel(name) for name in names if re.fullmatch(r"(\w+_)?customer_id", name)]
    given = f"[{', '.join(customers)}].filter {{ !$0.isEmpty }}" if customers else "[]"
    return [f"extension {swift_type(method.input_type)}: RepeatableRequest {{",
            f"  typealias Response = {swift_type(method.output_type)}",
            f"  var namedCustomers: [String] {{ {given} }}", "}", ""]


def service_source(file, index, access, messages):
    """The source for a service of a file, and whether it has methods that run as tasks and on an event loop."""
    service, comments = file.service[index], Comments(file)
    docs = {method.name: ["  " + line for line in comments.doc([6, index, 2, number], f"`{method.name}`.")]
            for number, method in enumerate(service.method)}
    rules = [(method, access.of(file, service, method)) for method in service.method]
    tasks = [pair for pair in rules if not pair[1].on_event_loop]
    points = [pair for pair in rules if pair[1].on_event_loop]
    full = f"`{file.package}.{service.name}`"
    lines = protocol(f"{service.name}Methods", ": Sendable", f"The rpcs of {full} that run as tasks.", file, service,
                     tasks, messages, docs)
    if points:
        lines += protocol(f"{service.name}EventLoopMethods", "",
                          f"The rpcs of {full} that run synchronously on an event loop.", file, service, points,
                          messages, docs)
    return HEADER + "\n".join(lines), bool(tasks), bool(points)


def list_source(name, summary, suffix, services):
    parameters = [(service.name[0].lower() + service.name[1:], f"some {service.name}{suffix}") for service in services]
    declared = ", ".join(f"{label}: {type}" for label, type in parameters)
    calls = " + ".join(f"{label}.methods" for label, _ in parameters) or "[]"
    return [f"  /// {summary}", f"  static func {name}({declared}) -> [Method] {{", f"    {calls}", "  }"]


def sources(descriptor_set, access):
    """The files by name: one for each service of the package `entitled.v1`, and the list of all of them."""
    tasks, points = [], []
    messages = {f"{file.package}.{message.name}": message for file in descriptor_set.file for message in file.message_type}
    for file in descriptor_set.file:
        if file.package != "entitled.v1":
            continue
        for index, service in enumerate(file.service):
            text, has_tasks, has_points = service_source(file, index, access, messages)
            tasks += [service] if has_tasks else []
            points += [service] if has_points else []
            yield f"{service.name}Methods.swift", text
    lines = ["extension Method {"]
    lines += list_source("tasks", "The methods of all services that run as tasks.", "Methods", tasks) + [""]
    lines += list_source("eventLoop", "The methods of all services that run on an event loop.", "EventLoopMethods",
                         points)
    yield "Method+Contract.swift", HEADER + "\n".join(lines + ["}", ""])
