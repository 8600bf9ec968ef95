internal import CEntitledProto
package import JSON

/// JSON schemas (draft 2020-12, as OpenAPI 3.1 uses it) of messages in protobuf's JSON form, from their descriptors.
package struct JSONSchema {
  /// The schemas of all messages and enums by full name, in the order of their discovery.
  package private(set) var definitions = JSONObject()

  package init() {}

  /// A reference to the schema of a message, which ``definitions`` contains from then on, with all that it refers to.
  /// `asRequest`: whether callers send it; unknown members are then errors, and texts have limits. A message that
  /// callers send and receive has the schema of a request if it is added as one first.
  package mutating func reference(to type: any WireMessage.Type, asRequest: Bool) -> JSONValue {
    schema(of: type.messageType.descriptor, asRequest)
  }

  /// The prefix of a reference to a definition.
  private static let prefix = "#/components/schemas/"

  private static func reference(_ name: String) -> JSONValue { .object(["$ref": .string(prefix + name)]) }

  private mutating func schema(
    of message: UnsafePointer<ProtobufCMessageDescriptor>, _ asRequest: Bool
  ) -> JSONValue {
    if let special = WellKnownJSON(message) { return .object(special.schema) }
    let name = String(cString: message.pointee.name)
    if definitions[name] == nil {
      // Reserves the place, so that a message may contain itself.
      definitions[name] = [:]
      definitions[name] = .object(object(message, name, asRequest))
    }
    return Self.reference(name)
  }

  private mutating func object(
    _ message: UnsafePointer<ProtobufCMessageDescriptor>, _ name: String, _ asRequest: Bool
  ) -> JSONObject {
    var schema: JSONObject = ["type": "object"]
    if let comment = FileDescriptors.comment(of: name) { schema["description"] = .string(comment) }
    var properties = JSONObject()
    for field in JSONNames.fields(of: message) {
      let fieldName = String(cString: field.pointee.name)
      var property = self.property(field, fieldName, asRequest)
      if let comment = FileDescriptors.comment(of: "\(name).\(fieldName)") {
        property["description"] = .string(comment)
      }
      properties[JSONNames.lowerCamelCase(field.pointee.name)] = .object(property)
    }
    schema["properties"] = .object(properties)
    if asRequest { schema["additionalProperties"] = false }
    return schema
  }

  private mutating func property(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, _ name: String, _ asRequest: Bool
  ) -> JSONObject {
    if field.isMap {
      let value = field.messageDescriptor.pointee.fields + 1
      return ["type": "object", "additionalProperties": .object(element(value, name, asRequest))]
    }
    let element = element(field, name, asRequest)
    guard field.pointee.label == PROTOBUF_C_LABEL_REPEATED else { return element }
    return ["type": "array", "items": .object(element)]
  }

  private mutating func element(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, _ name: String, _ asRequest: Bool
  ) -> JSONObject {
    switch field.pointee.type {
    case PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SINT32, PROTOBUF_C_TYPE_SFIXED32:
      return integer(Int64(Int32.min), Int64(Int32.max), "int32")
    case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_FIXED32: return integer(0, Int64(UInt32.max), "uint32")
    case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64, PROTOBUF_C_TYPE_SFIXED64:
      return ["type": "string", "format": "int64", "pattern": "^-?[0-9]{1,19}$"]
    case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_FIXED64:
      return ["type": "string", "format": "uint64", "pattern": "^[0-9]{1,20}$"]
    case PROTOBUF_C_TYPE_FLOAT, PROTOBUF_C_TYPE_DOUBLE: return ["type": "number"]
    case PROTOBUF_C_TYPE_BOOL: return ["type": "boolean"]
    case PROTOBUF_C_TYPE_ENUM: return enumeration(field.enumDescriptor).objectValue ?? [:]
    case PROTOBUF_C_TYPE_BYTES: return ["type": "string", "contentEncoding": "base64"]
    case PROTOBUF_C_TYPE_MESSAGE: return schema(of: field.messageDescriptor, asRequest).objectValue ?? [:]
    default:
      var text: JSONObject = ["type": "string"]
      let limit = TextLimits.limit(of: name)
      if asRequest, limit < .max { text["maxLength"] = .number(JSONNumber(Int64(limit))) }
      return text
    }
  }

  private func integer(_ minimum: Int64, _ maximum: Int64, _ format: String) -> JSONObject {
    [
      "type": "integer", "format": .string(format), "minimum": .number(JSONNumber(minimum)),
      "maximum": .number(JSONNumber(maximum)),
    ]
  }

  private mutating func enumeration(_ descriptor: UnsafePointer<ProtobufCEnumDescriptor>) -> JSONValue {
    let name = String(cString: descriptor.pointee.name)
    guard definitions[name] == nil else { return Self.reference(name) }
    let values = (0..<Int(descriptor.pointee.n_values)).map {
      String(cString: descriptor.pointee.values[$0].name)
    }
    var schema: JSONObject = ["type": "string", "enum": .array(values.map { .string($0) })]
    let described = values.compactMap { value in
      FileDescriptors.comment(of: "\(name).\(value)").map { "- `\(value)`: \($0)" }
    }
    let lines = [FileDescriptors.comment(of: name)].compactMap(\.self) + described
    if !lines.isEmpty { schema["description"] = .string(lines.joined(separator: "\n")) }
    definitions[name] = .object(schema)
    return Self.reference(name)
  }
}

extension WellKnownJSON {
  fileprivate var schema: JSONObject {
    switch self {
    case .timestamp: ["type": "string", "format": "date-time"]
    case .duration: ["type": "string", "pattern": #"^-?[0-9]{1,12}(\.[0-9]{1,9})?s$"#]
    case .fieldMask: ["type": "string", "pattern": "^([a-zA-Z0-9.]+(,[a-zA-Z0-9.]+)*)?$"]
    case .any: ["type": "object", "required": ["@type"], "properties": ["@type": ["type": "string"]]]
    }
  }
}
