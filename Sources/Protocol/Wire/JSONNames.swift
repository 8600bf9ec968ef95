internal import CEntitledProto

/// Names in protobuf's JSON form, from the descriptors.
enum JSONNames {
  /// Converts "app_account_token" to "appAccountToken".
  static func lowerCamelCase(_ name: UnsafePointer<CChar>) -> String {
    var result: [UInt8] = []
    var raise = false
    for byte in String(cString: name).utf8 {
      if byte == UInt8(ascii: "_") {
        raise = true
      } else {
        result.append(raise && UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte ? byte - 0x20 : byte)
        raise = false
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The field with that name in JSON, either in lowerCamelCase or as in the contract.
  static func field(
    named name: String, of descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) -> UnsafePointer<ProtobufCFieldDescriptor>? {
    fields(of: descriptor).first { field in
      lowerCamelCase(field.pointee.name) == name || String(cString: field.pointee.name) == name
    }
  }

  /// The fields in the order of their numbers.
  static func fields(
    of descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) -> [UnsafePointer<ProtobufCFieldDescriptor>] {
    guard let first = descriptor.pointee.fields else { return [] }
    return (0..<Int(descriptor.pointee.n_fields)).map { first + $0 }
  }
}

extension UnsafePointer<ProtobufCFieldDescriptor> {
  /// The message type of a message field.
  var messageDescriptor: UnsafePointer<ProtobufCMessageDescriptor> {
    pointee.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
  }

  /// The enum type of an enum field.
  var enumDescriptor: UnsafePointer<ProtobufCEnumDescriptor> {
    pointee.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self)
  }

  /// Whether the field is a member of a oneof.
  var isInOneof: Bool { pointee.flags & UInt32(PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue) != 0 }

  /// Whether the field is a map. In the wire format and in protobuf-c, a map is a repeated message; protoc
  /// names its type after the field with the suffix `Entry`, and its fields are `key` (1) and `value` (2).
  var isMap: Bool {
    guard pointee.label == PROTOBUF_C_LABEL_REPEATED, pointee.type == PROTOBUF_C_TYPE_MESSAGE else {
      return false
    }
    let entry = messageDescriptor
    return entry.pointee.n_fields == 2 && String(cString: entry.pointee.short_name).hasSuffix("Entry")
      && String(cString: entry.pointee.fields[0].name) == "key"
      && String(cString: entry.pointee.fields[1].name) == "value"
  }
}
