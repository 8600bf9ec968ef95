internal import CEntitledProto
internal import JSON

/// Builds protobuf-c's structures from JSON by their descriptors.
struct JSONReader {
  let arena: WireArena

  /// Builds the message at `path`, which is empty for the outermost one.
  ///
  /// - Throws: ``WireError/invalidValue(field:expected:)``, ``WireError/unknownField(_:)``,
  ///   ``WireError/duplicateField(_:)``, with the path of the member.
  func message(
    _ value: JSONValue, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, at path: String
  ) throws(WireError) -> UnsafeMutableRawPointer {
    let structure = try arena.reserve(descriptor.pointee.sizeof_message)
    descriptor.pointee.message_init?(structure.assumingMemoryBound(to: ProtobufCMessage.self))
    if let special = WellKnownJSON(descriptor) {
      try special.read(value, into: structure, with: self, at: path)
      return structure
    }
    guard case .object(let members) = value else {
      throw .invalidValue(field: path, expected: "an object, not \(value.kind)")
    }
    try read(members, into: structure, descriptor, at: path)
    return structure
  }

  /// Sets the fields named by `members`.
  /// A field may have its name of the contract or its lowerCamelCase name; `null` is the default value (protobuf's
  /// *ProtoJSON*).
  func read(
    _ members: JSONObject, into structure: UnsafeMutableRawPointer,
    _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>, at path: String
  ) throws(WireError) {
    var seen: Set<UInt32> = []
    for (name, value) in members {
      let place = path.isEmpty ? name : "\(path).\(name)"
      guard let field = JSONNames.field(named: name, of: descriptor) else { throw .unknownField(place) }
      guard seen.insert(field.pointee.id).inserted else { throw .duplicateField(place) }
      if !value.isNull { try set(field, in: structure, to: value, at: place) }
    }
  }

  /// Sets a field: all elements of a repeated one or map, and of a `oneof` at most one member.
  private func set(
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, in structure: UnsafeMutableRawPointer,
    to value: JSONValue, at path: String
  ) throws(WireError) {
    let address = structure + Int(field.pointee.offset)
    let quantifier = structure + Int(field.pointee.quantifier_offset)
    if field.pointee.label == PROTOBUF_C_LABEL_REPEATED {
      let elements = try elements(of: value, field, at: path)
      let size = FieldLayout.size(of: field.pointee.type)
      let array = try arena.reserve(elements.count * size)
      for (index, element) in elements.enumerated() {
        try store(element.value, at: array + index * size, field, path: element.path)
      }
      address.storeBytes(of: array, as: UnsafeMutableRawPointer.self)
      quantifier.storeBytes(of: elements.count, as: Int.self)
      return
    }
    if field.isInOneof {
      guard quantifier.load(as: UInt32.self) == 0 else {
        throw .invalidValue(field: path, expected: "left out, because an alternative to it is set")
      }
      quantifier.storeBytes(of: field.pointee.id, as: UInt32.self)
    }
    try store(value, at: address, field, path: path)
  }

  /// The elements of an array or the entries of a map, each with its path.
  private func elements(
    of value: JSONValue, _ field: UnsafePointer<ProtobufCFieldDescriptor>, at path: String
  ) throws(WireError) -> [(path: String, value: JSONValue)] {
    switch value {
    case .object(let members) where field.isMap:
      return members.map { ("\(path)[\"\($0.name)\"]", ["key": .string($0.name), "value": $0.value]) }
    case .array(let elements) where !field.isMap:
      return elements.enumerated().map { ("\(path)[\($0.offset)]", $0.element) }
    default:
      let expected = field.isMap ? "an object" : "an array"
      throw .invalidValue(field: path, expected: "\(expected), not \(value.kind)")
    }
  }

  /// Stores one value in the form of its type. 64-bit integers may be numbers or texts, since JSON numbers of many
  /// programs have 53 bits.
  private func store(
    _ value: JSONValue, at address: UnsafeMutableRawPointer,
    _ field: UnsafePointer<ProtobufCFieldDescriptor>, path: String
  ) throws(WireError) {
    let scalar = JSONScalar(value: value, path: path)
    switch field.pointee.type {
    case PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SINT32, PROTOBUF_C_TYPE_SFIXED32:
      address.storeBytes(of: try scalar.integer(Int32.self), as: Int32.self)
    case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_FIXED32:
      address.storeBytes(of: try scalar.integer(UInt32.self), as: UInt32.self)
    case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64, PROTOBUF_C_TYPE_SFIXED64:
      address.storeBytes(of: try scalar.integer(Int64.self), as: Int64.self)
    case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_FIXED64:
      address.storeBytes(of: try scalar.integer(UInt64.self), as: UInt64.self)
    case PROTOBUF_C_TYPE_FLOAT: address.storeBytes(of: try scalar.float(), as: Float.self)
    case PROTOBUF_C_TYPE_DOUBLE: address.storeBytes(of: try scalar.double(), as: Double.self)
    case PROTOBUF_C_TYPE_BOOL: address.storeBytes(of: try scalar.flag(), as: protobuf_c_boolean.self)
    case PROTOBUF_C_TYPE_ENUM:
      address.storeBytes(of: try scalar.enumeration(field.enumDescriptor), as: Int32.self)
    case PROTOBUF_C_TYPE_STRING:
      let text = try scalar.text()
      try arena.requireRoom(for: text.utf8.count + 1)
      address.storeBytes(of: arena.text(text), as: UnsafeMutablePointer<CChar>.self)
    case PROTOBUF_C_TYPE_BYTES:
      let bytes = try scalar.bytes()
      try arena.requireRoom(for: bytes.count)
      address.storeBytes(of: arena.bytes(bytes), as: ProtobufCBinaryData.self)
    case PROTOBUF_C_TYPE_MESSAGE:
      address.storeBytes(
        of: try message(value, field.messageDescriptor, at: path), as: UnsafeMutableRawPointer.self)
    default: throw .invalidValue(field: path, expected: "of a type that this service supports")
    }
  }
}
