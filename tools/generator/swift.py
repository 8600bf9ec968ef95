"""The Swift form of the messages: one file for each .proto, and the table of services."""

import re

from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

import c_tables

HEADER = f"""// {c_tables.COMMAND}
// swift-format-ignore-file
"""

# The enum used as namespace of a package; our own package needs none.
NAMESPACES = {
    "entitled.v1": None,
    "connectrpc.conformance.v1": "Conformance",
    "google.protobuf": "GoogleProtobuf",
    "google.rpc": "GoogleRPC",
    "grpc.health.v1": "GRPCHealth",
    "grpc.reflection.v1": "GRPCReflection",
    "grpc.reflection.v1alpha": "GRPCReflectionAlpha",
    "grpc.testing": "GRPCTesting",
}
# descriptor.proto is read inside Wire only, in its C form.
NOT_IN_SWIFT = {"google/protobuf/descriptor.proto"}
# Reserved words of Swift.
RENAMED = {"Any": "AnyMessage"}
KEYWORDS = {"as", "case", "default", "do", "else", "extension", "false", "for", "if", "import", "in", "init", "internal",
            "is", "operator", "protocol", "public", "repeat", "return", "self", "static", "switch", "true", "where"}

SCALARS = {
    Field.TYPE_BOOL: "Bool", Field.TYPE_STRING: "String", Field.TYPE_BYTES: "[UInt8]",
    Field.TYPE_DOUBLE: "Double", Field.TYPE_FLOAT: "Float",
    Field.TYPE_INT32: "Int32", Field.TYPE_SINT32: "Int32", Field.TYPE_SFIXED32: "Int32",
    Field.TYPE_INT64: "Int64", Field.TYPE_SINT64: "Int64", Field.TYPE_SFIXED64: "Int64",
    Field.TYPE_UINT32: "UInt32", Field.TYPE_FIXED32: "UInt32",
    Field.TYPE_UINT64: "UInt64", Field.TYPE_FIXED64: "UInt64",
}

# The protocols of Wire for requests and responses that share fields: the protocols that each refines, which come before
# it, and its own fields with their types.
SHARED_FIELDS = {
    "AppRequest": ([], {"app": "String"}),
    "ScopedRequest": (["AppRequest"], {"environment": "Environment"}),
    "CustomerRequest": (["ScopedRequest"], {"customerId": "String"}),
    "ActorRequest": ([], {"actor": "String"}),
    "ChangeRequest": (["ScopedRequest", "ActorRequest"], {"note": "String", "idempotencyKey": "String"}),
    "PagedRequest": ([], {"pageToken": "String"}),
    "SizedPageRequest": (["PagedRequest"], {"pageSize": "Int32"}),
    "WebhookRequest": (["AppRequest"], {"webhook": "String", "kind": "WebhookKind"}),
    "PagedResponse": ([], {"nextPageToken": "String"}),
    "PositionedResponse": ([], {"position": "String"}),
    "RepeatedResponse": ([], {"repeated": "Bool"}),
    "AcceptedResponse": (["RepeatedResponse"], {"acceptedAt": "GoogleProtobuf.Timestamp?"}),
}

# The methods of WireWriter; a type that is not here needs one first.
WRITERS = {
    Field.TYPE_BOOL: "flag", Field.TYPE_STRING: "text", Field.TYPE_BYTES: "data", Field.TYPE_DOUBLE: "double",
    Field.TYPE_INT32: "integer", Field.TYPE_INT64: "integer", Field.TYPE_UINT32: "integer",
    Field.TYPE_UINT64: "integer",
}


def camel(name):
    head, *tail = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in tail)


def camel_type(oneof):
    """The name of the Swift enum of a oneof."""
    return oneof.name[0].upper() + camel(oneof.name)[1:]


def quoted(name):
    return f"`{name}`" if name in KEYWORDS else name


def indent(lines, by="  "):
    return [by + line if line else line for line in lines]


def swift_type(full_name):
    """".google.rpc.BadRequest.FieldViolation" -> "GoogleRPC.BadRequest.FieldViolation"."""
    full_name = full_name.strip(".")
    package = max((p for p in NAMESPACES if full_name.startswith(p + ".")), key=len)
    parts = [RENAMED.get(part, part) for part in full_name[len(package) + 1:].split(".")]
    return ".".join(([NAMESPACES[package]] if NAMESPACES[package] else []) + parts)


class Comments:
    """The comments of a .proto file by the path of what they describe."""

    def __init__(self, file):
        self.by_path = {tuple(l.path): l.leading_comments.strip() for l in file.source_code_info.location}

    def doc(self, path, fallback):
        lines = (self.by_path.get(tuple(path)) or fallback).splitlines()
        return [("/// " + line.strip()).rstrip() for line in lines]


class FieldSource:
    """One field in Swift and in C."""

    def __init__(self, field):
        self.field = field
        self.name = quoted(camel(field.name))
        self.c_name = field.name.lower()
        self.repeated = field.label == Field.LABEL_REPEATED
        self.is_message = field.type == Field.TYPE_MESSAGE
        self.is_enum = field.type == Field.TYPE_ENUM
        # proto3 `optional`: protoc declares a oneof of this field alone.
        self.is_optional = field.proto3_optional
        self.in_oneof = field.HasField("oneof_index") and not self.is_optional
        self.element = SCALARS.get(field.type) or swift_type(field.type_name)

    def type(self):
        if self.repeated:
            return f"[{self.element}]"
        return f"{self.element}?" if self.is_message or self.is_optional else self.element

    def declaration(self):
        declared = f"package var {self.name}: {self.type()}"
        if self.repeated:
            return f"{declared} = []"
        if self.is_message or self.is_optional:
            return declared
        default = ".init()" if self.is_enum else {"Bool": "false", "String": '""', "[UInt8]": "[]"}.get(self.element, "0")
        return f"{declared} = {default}"

    def assignment(self):
        """The statement that sets the Swift property from the C structure `c`."""
        if not self.is_optional:
            return f"{self.name} = {self.reading()}"
        is_set = f"c.pointee._{self.field.name}_case.rawValue == {self.field.number}"
        return f"if {is_set} {{ {self.name} = {self.reading()} }}"

    def reading(self):
        """The expression that makes the Swift value from the C structure `c`."""
        member = f"c.pointee.{self.c_name}"
        if self.repeated:
            is_bytes = self.field.type == Field.TYPE_BYTES
            kind = "messages" if self.is_message else "enums" if self.is_enum else "data" if is_bytes else "elements"
            return f"CField.{kind}({member}, count: c.pointee.n_{self.c_name})"
        if self.is_message:
            return f"CField.message({member})"
        if self.is_enum:
            return f"{self.element}(rawValue: CField.number({member}.rawValue))"
        if self.element in ("String", "[UInt8]", "Bool"):
            return f"CField.{ {'String': 'text', '[UInt8]': 'bytes', 'Bool': 'flag'}[self.element] }({member})"
        return member

    def encoding(self):
        """The statement that writes the Swift property."""
        if not self.is_optional:
            return self.writing(self.name)
        return f"if let {self.name} {{ {self.writing(self.name, even_default=True)} }}"

    def writing(self, value, even_default=False):
        """The statement that writes the Swift expression `value`."""
        if self.is_message:
            kind = "message"
        elif self.is_enum:
            kind, value = "integer", f"{value}.map(\\.rawValue)" if self.repeated else f"{value}.rawValue"
        else:
            kind = WRITERS[self.field.type]
        if self.repeated:
            kind += "s"
        elif even_default and not self.is_message:
            kind += "OrDefault"
        return f"writer.{kind}({self.field.number}, {value})"


def enum_source(enum, comments, path):
    prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", enum.name).upper() + "_"
    cases = [(quoted(camel(v.name.removeprefix(prefix).lower())), v) for v in enum.value]
    lines = comments.doc(path, f"`{enum.name}` of the contract.")
    lines += [f"package enum {enum.name}: WireEnum {{"]
    for index, (name, value) in enumerate(cases):
        lines += indent(comments.doc([*path, 2, index], f"`{value.name}`.")) + [f"  case {name}"]
    lines += ["  /// A number that this version of the contract does not name.", "  case unrecognized(Int32)", ""]
    lines += ["  /// The value with that number on the wire.", "  package init(rawValue: Int32) {", "    switch rawValue {"]
    lines += [f"    case {value.number}: self = .{name}" for name, value in cases]
    lines += ["    default: self = .unrecognized(rawValue)", "    }", "  }", ""]
    lines += ["  /// The number on the wire.", "  package var rawValue: Int32 {", "    switch self {"]
    lines += [f"    case .{name}: {value.number}" for name, value in cases]
    lines += ["    case .unrecognized(let number): number", "    }", "  }", ""]
    lines += ["  /// The value's name in the contract, or its number.", "  package var protoName: String {",
              "    switch self {"]
    lines += [f'    case .{name}: "{value.name}"' for name, value in cases]
    lines += ['    case .unrecognized(let number): "\\(number)"', "    }", "  }"]
    return lines + ["}", ""]


def oneof_source(oneof, fields, comments, path):
    name = camel_type(oneof)
    lines = comments.doc(path, f"The choices of `{oneof.name}`: at most one.")
    lines += [f"package enum {name}: Equatable, Sendable {{"]
    for field, field_path in fields:
        lines += indent(comments.doc(field_path, f"`{field.field.name}`.")) + [f"  case {field.name}({field.element})"]
    return lines + ["}", ""]


def conformances(name, fields):
    """The protocols of a message: those of `SHARED_FIELDS` whose fields it has, without those that others refine."""
    types = {field.name: field.type() for field in fields if not field.in_oneof}
    kind = "Request" if name.endswith("Request") else "Response" if name.endswith("Response") else None
    found = []
    for protocol, (refined, needed) in SHARED_FIELDS.items():
        if kind and protocol.endswith(kind) and all(p in found for p in refined) and needed.items() <= types.items():
            found.append(protocol)
    refined = {protocol for child in found for protocol in SHARED_FIELDS[child][0]}
    return [protocol for protocol in found if protocol not in refined] or ["WireMessage"]


def message_source(message, full_name, comments, path, names):
    fields = [FieldSource(f) for f in message.field]
    located = [(f, [*path, 2, i]) for i, f in enumerate(fields)]
    oneofs = [(o, [(f, p) for f, p in located if f.in_oneof and f.field.oneof_index == i], [*path, 8, i])
              for i, o in enumerate(message.oneof_decl)]
    oneofs = [oneof for oneof in oneofs if oneof[1]]
    name = RENAMED.get(message.name, message.name)
    lines = comments.doc(path, f"`{full_name.strip('.')}`.")
    lines += [f"package struct {name}: {', '.join(conformances(message.name, fields))} {{"]
    body = []
    for field, field_path in located:
        if not field.in_oneof:
            body += comments.doc(field_path, f"`{field.field.name}`.") + [field.declaration()]
    for oneof, members, _ in oneofs:
        body += [f"/// `{oneof.name}`: " + ", ".join(f"`{f.field.name}`" for f, _ in members) + ", or none.",
                 f"package var {quoted(camel(oneof.name))}: {camel_type(oneof)}?"]
    body += ["", "/// A message with every field at its default.", "package init() {}", ""]
    body += conversion_source(fields, oneofs, full_name, names)
    for oneof, members, oneof_path in oneofs:
        body += [""] + oneof_source(oneof, members, comments, oneof_path)[:-1]
    for i, nested in enumerate(message.enum_type):
        body += [""] + enum_source(nested, comments, [*path, 4, i])[:-1]
    for i, nested in enumerate(message.nested_type):
        body += [""] + message_source(nested, f"{full_name}.{nested.name}", comments, [*path, 3, i], names)[:-1]
    return lines + indent(body) + ["}", ""]


def conversion_source(fields, oneofs, full_name, names):
    struct = names.type(full_name)
    lines = ["/// Its description in the contract.",
             f"package static let messageType = MessageType(entitled_descriptor_{struct}())", "",
             "/// Copies protobuf-c's structure.",
             "package init(reading structure: UnsafeRawPointer) {"]
    reading = [f.assignment() for f in fields if not f.in_oneof]
    for oneof, members, _ in oneofs:
        reading += [f"switch c.pointee.{oneof.name}_case.rawValue {{"]
        for field, _ in members:
            wrapped = f"{field.reading()}.map({camel_type(oneof)}.{field.name})" if field.is_message else \
                f".{field.name}({field.reading()})"
            reading += [f"case {field.field.number}: {quoted(camel(oneof.name))} = {wrapped}"]
        reading += ["default: break", "}"]
    binding = [f"  let c = structure.assumingMemoryBound(to: {struct}.self)"] if reading else []
    lines += binding + indent(reading) + ["}", ""]
    lines += ["/// Writes the fields that are set.", "package func write(to writer: inout WireWriter) {"]
    lines += [f"  {f.encoding()}" for f in fields if not f.in_oneof]
    for oneof, members, _ in oneofs:
        lines += [f"  switch {quoted(camel(oneof.name))} {{"]
        lines += [f"  case .{f.name}(let value)?: {f.writing('value', even_default=True)}" for f, _ in members]
        lines += ["  case nil: break", "  }"]
    return lines + ["}"]


def file_source(file, names, imports):
    comments = Comments(file)
    namespace = NAMESPACES[file.package]
    lines = []
    for i, enum in enumerate(file.enum_type):
        lines += enum_source(enum, comments, [5, i])
    for i, message in enumerate(file.message_type):
        lines += message_source(message, f".{file.package}.{message.name}", comments, [4, i], names)
    if namespace:
        lines = [f"extension {namespace} {{"] + indent(lines[:-1]) + ["}", ""] if lines else []
    return "\n".join([HEADER, *imports, "", *lines])


def all_messages(file):
    def walk(message, name):
        yield name
        for nested in message.nested_type:
            yield from walk(nested, f"{name}.{nested.name}")
    for message in file.message_type:
        yield from walk(message, f"{file.package}.{message.name}")


def namespaces(files):
    """The enums that are the namespaces of the packages of `files`."""
    packages = {file.package for file in files}
    for package, namespace in NAMESPACES.items():
        if namespace and package in packages:
            yield from [f"/// The messages of the package `{package}`.", f"package enum {namespace} {{}}", ""]


def contract_source(files, access):
    """The table of services and messages."""
    lines = [HEADER, *namespaces(files)]
    lines += ["extension Contract {", "  /// Every service that the contract declares, with its methods.",
              "  package static let services: [ServiceDescription] = ["]
    for file in files:
        for service in file.service:
            lines += [f'    ServiceDescription(name: "{file.package}.{service.name}", methods: [']
            for method in service.method:
                lines += method_source(file, service, method, access)
            lines += ["    ]),"]
    lines += ["  ]", "", "  /// Every message of the contract, nested ones too.",
              "  static let messageTypes: [any WireMessage.Type] = ["]
    lines += [f"    {swift_type(name)}.self," for file in files for name in all_messages(file)]
    return "\n".join(lines + ["  ]", "}", ""])


def method_source(file, service, method, access):
    rule = access.of(file, service, method)
    return [f'      MethodDescription(service: "{file.package}.{service.name}", name: "{method.name}",',
            f"        requestType: {swift_type(method.input_type)}.self,"
            f" responseType: {swift_type(method.output_type)}.self,",
            f"        clientStreaming: {str(method.client_streaming).lower()},"
            f" serverStreaming: {str(method.server_streaming).lower()},",
            f"        role: {rule.role}, mutates: {str(rule.mutates).lower()},"
            f" onEventLoop: {str(rule.on_event_loop).lower()}{options(rule)}),"]


def options(rule):
    """The arguments of rare options."""
    return (", anyRole: true" if rule.any_role else "") + (", limitsApps: true" if rule.limits_apps else "") + (
        ", showsCustomers: true" if rule.shows_customers else "")


def message_files(descriptor_set, names, imports):
    """One source for each file that declares messages or enums."""
    for file in in_swift(descriptor_set):
        if file.message_type or file.enum_type:
            yield file.name.removesuffix(".proto").replace("/", "_") + ".pb.swift", file_source(file, names, imports)


def in_swift(descriptor_set):
    return [file for file in descriptor_set.file if file.name not in NOT_IN_SWIFT]


def contract_sources(descriptor_set, names, access):
    """The sources of the contract by name: its messages, and the table of its services."""
    yield from message_files(descriptor_set, names, ["internal import CEntitledProto"])
    yield "Contract+Tables.pb.swift", contract_source(in_swift(descriptor_set), access)


def test_sources(descriptor_set, names):
    """The sources of the test packages by name: messages only, and their namespaces."""
    yield from message_files(descriptor_set, names, ["internal import CInteropProto", "package import Wire"])
    yield "Namespaces.pb.swift", "\n".join([HEADER, *namespaces(descriptor_set.file)])
