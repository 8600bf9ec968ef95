internal import Bytes
internal import CEntitledProto
internal import JSON

/// Prints protobuf-c's structures as JSON by their descriptors.
struct JSONPrinter {
  let arena: WireArena

  /// Prints a message, in the special JSON form of its type if there is one.
  func message(
    _ structure: UnsafeRawPointer, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) -> JSONValue {
    if let special = WellKnownJSON(descriptor) { return special.print(structure, with: self) }
    return .object(members(structure, descriptor))
  }

  /// Prints the members of a message without a special JSON form.
  func members(
    _ structure: UnsafeRawPointer, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) -> JSONObject {
    var members = JSONObject()
    for field in JSONNames.fields(of: descriptor) {
      if let value = value(of: field, in: structure) {
        members[JSONNames.lowerCamelCase(field.pointee.name)] = value
      }
    }
    return members
  }

  /// Prints a field; `nil` for an unset message or oneof member.
  private func value(
    of field: UnsafePointer<ProtobufCFieldDescriptor>, in structure: UnsafeRawPointer
  ) -> JSONValue? {
    let address = structure + Int(field.pointee.offset)
    let quantifier = structure + Int(field.pointee.quantifier_offset)
    if field.pointee.label == PROTOBUF_C_LABEL_REPEATED {
      let count = quantifier.load(as: Int.self)
      let elements = count == 0 ? nil : address.load(as: UnsafeRawPointer?.self)
      return field.isMap ? map(field, elements, count) : array(field, elements, count)
    }
    if field.isInOneof, quantifier.load(as: UInt32.self) != field.pointee.id { return nil }
    return scalar(at: address, field)
  }

  private func array(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, _ elements: UnsafeRawPointer?, _ count: Int
  ) -> JSONValue {
    guard let elements else { return [] }
    let size = FieldLayout.size(of: field.pointee.type)
    return .array((0..<count).map { scalar(at: elements + $0 * size, field) ?? .null })
  }

  private func map(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, _ elements: UnsafeRawPointer?, _ count: Int
  ) -> JSONValue {
    guard case .array(let entries) = array(field, elements, count) else { return [:] }
    var members = JSONObject()
    for entry in entries {
      guard let key = entry.objectValue?["key"] else { continue }
      members[key.stringValue ?? key.text] = entry.objectValue?["value"] ?? [:]
    }
    return .object(members)
  }

  /// Prints the value at `address`; `nil` for an unset message.
  private func scalar(
    at address: UnsafeRawPointer, _ field: UnsafePointer<ProtobufCFieldDescriptor>
  ) -> JSONValue? {
    switch field.pointee.type {
    case PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SINT32, PROTOBUF_C_TYPE_SFIXED32:
      return .number(JSONNumber(Int64(address.load(as: Int32.self))))
    case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_FIXED32:
      return .number(JSONNumber(Int64(address.load(as: UInt32.self))))
    case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64, PROTOBUF_C_TYPE_SFIXED64:
      return .string(String(address.load(as: Int64.self)))
    case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_FIXED64:
      return .string(String(address.load(as: UInt64.self)))
    case PROTOBUF_C_TYPE_FLOAT: return number(address.load(as: Float.self))
    case PROTOBUF_C_TYPE_DOUBLE: return number(address.load(as: Double.self))
    case PROTOBUF_C_TYPE_BOOL: return .bool(address.load(as: protobuf_c_boolean.self) != 0)
    case PROTOBUF_C_TYPE_ENUM: return enumeration(address.load(as: Int32.self), field.enumDescriptor)
    case PROTOBUF_C_TYPE_STRING:
      return .string(CField.text(address.load(as: UnsafeMutablePointer<CChar>?.self)))
    case PROTOBUF_C_TYPE_BYTES:
      return .string(Base64.standard.encode(CField.bytes(address.load(as: ProtobufCBinaryData.self))))
    case PROTOBUF_C_TYPE_MESSAGE:
      return address.load(as: UnsafeRawPointer?.self).map { message($0, field.messageDescriptor) }
    default: return nil
    }
  }

  private func number(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> JSONValue {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
    return (try? JSONValue(parsing: value.description)) ?? .null
  }

  private func enumeration(
    _ number: Int32, _ descriptor: UnsafePointer<ProtobufCEnumDescriptor>
  ) -> JSONValue {
    guard let value = protobuf_c_enum_descriptor_get_value(descriptor, number) else {
      return .number(JSONNumber(Int64(number)))
    }
    return .string(String(cString: value.pointee.name))
  }
}

/// The layout of the elements of a repeated field in protobuf-c.
enum FieldLayout {
  static func size(of type: ProtobufCType) -> Int {
    switch type {
    case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64, PROTOBUF_C_TYPE_SFIXED64, PROTOBUF_C_TYPE_UINT64,
      PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_DOUBLE:
      8
    case PROTOBUF_C_TYPE_STRING, PROTOBUF_C_TYPE_MESSAGE: MemoryLayout<UnsafeRawPointer>.size
    case PROTOBUF_C_TYPE_BYTES: MemoryLayout<ProtobufCBinaryData>.size
    default: 4
    }
  }
}
