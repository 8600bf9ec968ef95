internal import Bytes
internal import CEntitledProto
internal import JSON

/// Google's message types with a special JSON form.
enum WellKnownJSON {
  case timestamp, duration, fieldMask, any

  /// `nil` for a type with the usual form, an object of its fields.
  init?(_ descriptor: UnsafePointer<ProtobufCMessageDescriptor>) {
    switch String(cString: descriptor.pointee.name) {
    case "google.protobuf.Timestamp": self = .timestamp
    case "google.protobuf.Duration": self = .duration
    case "google.protobuf.FieldMask": self = .fieldMask
    case "google.protobuf.Any": self = .any
    default: return nil
    }
  }

  /// The form of protobuf's *ProtoJSON*: a time in RFC 3339, seconds with the suffix `s`, or names in lowerCamelCase
  /// with commas.
  func print(_ structure: UnsafeRawPointer, with printer: JSONPrinter) -> JSONValue {
    switch self {
    case .timestamp: .string(TimestampText.text(of: GoogleProtobuf.Timestamp(reading: structure)))
    case .duration: .string(DurationText.text(of: GoogleProtobuf.Duration(reading: structure)))
    case .fieldMask: .string(FieldMaskText.text(of: GoogleProtobuf.FieldMask(reading: structure)))
    case .any: printAny(GoogleProtobuf.AnyMessage(reading: structure), with: printer)
    }
  }

  /// `{"@type": url, members…}`; for a type with a special form `{"@type": url, "value": form}`; for an
  /// unknown type or malformed bytes, the value in Base64.
  private func printAny(_ any: GoogleProtobuf.AnyMessage, with printer: JSONPrinter) -> JSONValue {
    var members: JSONObject = ["@type": .string(any.typeUrl)]
    guard let type = MessageType.named(any.typeName),
      let structure = try? printer.arena.unpack(any.value, as: type.descriptor)
    else {
      members["value"] = .string(Base64.standard.encode(any.value))
      return .object(members)
    }
    if WellKnownJSON(type.descriptor) != nil {
      members["value"] = printer.message(structure, type.descriptor)
    } else {
      for (name, value) in printer.members(structure, type.descriptor) { members[name] = value }
    }
    return .object(members)
  }

  /// Reads the form that ``print(_:with:)`` writes.
  ///
  /// - Throws: ``WireError/invalidValue(field:expected:)`` with the path of the field.
  func read(
    _ value: JSONValue, into structure: UnsafeMutableRawPointer, with reader: JSONReader, at path: String
  ) throws(WireError) {
    switch self {
    case .timestamp:
      guard let text = value.stringValue, let timestamp = TimestampText.timestamp(text) else {
        throw .invalidValue(field: path, expected: "a time such as \"2026-01-01T00:00:00Z\"")
      }
      let c = structure.assumingMemoryBound(to: Google__Protobuf__Timestamp.self)
      (c.pointee.seconds, c.pointee.nanos) = (timestamp.seconds, timestamp.nanos)
    case .duration:
      guard let text = value.stringValue, let duration = DurationText.duration(text) else {
        throw .invalidValue(field: path, expected: "a duration such as \"1.5s\"")
      }
      let c = structure.assumingMemoryBound(to: Google__Protobuf__Duration.self)
      (c.pointee.seconds, c.pointee.nanos) = (duration.seconds, duration.nanos)
    case .fieldMask:
      guard let text = value.stringValue, let paths = FieldMaskText.paths(text) else {
        throw .invalidValue(field: path, expected: "names such as \"entitlements,consumptionConsent\"")
      }
      let size = MemoryLayout<UnsafeMutablePointer<CChar>?>.stride
      let array = try reader.arena.reserve(paths.count * size)
      for (index, name) in paths.enumerated() {
        try reader.arena.requireRoom(for: name.utf8.count + 1)
        array.storeBytes(
          of: reader.arena.text(name), toByteOffset: index * size, as: UnsafeMutablePointer<CChar>.self)
      }
      let c = structure.assumingMemoryBound(to: Google__Protobuf__FieldMask.self)
      c.pointee.paths = array.assumingMemoryBound(to: UnsafeMutablePointer<CChar>?.self)
      c.pointee.n_paths = paths.count
    case .any: try readAny(value, into: structure, with: reader, at: path)
    }
  }

  /// Reads an `Any` and packs its message, whose type must be of the contract.
  private func readAny(
    _ value: JSONValue, into structure: UnsafeMutableRawPointer, with reader: JSONReader, at path: String
  ) throws(WireError) {
    guard case .object(var members) = value, let url = members["@type"]?.stringValue else {
      throw .invalidValue(field: path, expected: "an object with \"@type\"")
    }
    var any = GoogleProtobuf.AnyMessage()
    any.typeUrl = url
    guard let type = MessageType.named(any.typeName) else {
      throw .invalidValue(field: "\(path).@type", expected: "a message of the contract")
    }
    members["@type"] = nil as JSONValue?
    let isWellKnown = WellKnownJSON(type.descriptor) != nil
    let content = isWellKnown ? members["value"] ?? .null : .object(members)
    let inner = try reader.message(content, type.descriptor, at: isWellKnown ? "\(path).value" : path)
    // The value is packed in the arena and then copied there, so it needs the space twice.
    try reader.arena.requireRoom(for: 2 * reader.arena.packedSize(of: inner) + url.utf8.count + 1)
    reader.arena.pack(inner, into: &any.value)
    let c = structure.assumingMemoryBound(to: Google__Protobuf__Any.self)
    c.pointee.type_url = reader.arena.text(url)
    c.pointee.value = reader.arena.bytes(any.value)
  }
}
