internal import Bytes
internal import CEntitledProto
internal import JSON

/// Converts one JSON value to a scalar field at `path`, by the rules of protobuf's JSON form.
struct JSONScalar {
  let value: JSONValue
  let path: String

  private func refusal(_ expected: String) -> WireError { .invalidValue(field: path, expected: expected) }

  /// Converts an integer, either a number or a string.
  func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws(WireError) -> Integer {
    let exact: Integer? =
      switch value {
      case .number(let number): Integer(number.literal) ?? number.int64.flatMap { Integer(exactly: $0) }
      case .string(let text): Integer(text)
      default: nil
      }
    guard let exact else { throw refusal("an integer from \(Integer.min) to \(Integer.max)") }
    return exact
  }

  /// Converts a number, or one of the strings for numbers that JSON lacks: `NaN`, `Infinity`, `-Infinity`.
  func double() throws(WireError) -> Double {
    switch value {
    case .string("NaN"): return .nan
    case .string("Infinity"): return .infinity
    case .string("-Infinity"): return -.infinity
    default: break
    }
    let written = value.stringValue.flatMap { try? JSONValue(parsing: $0) } ?? value
    guard let number = written.doubleValue, !number.isInfinite else { throw refusal("a number") }
    return number
  }

  func float() throws(WireError) -> Float {
    let wide = try double()
    let narrow = Float(wide)
    guard narrow.isInfinite == wide.isInfinite else { throw refusal("a number in the range of a float") }
    return narrow
  }

  func flag() throws(WireError) -> protobuf_c_boolean {
    guard case .bool(let flag) = value else { throw refusal("true or false") }
    return flag ? 1 : 0
  }

  /// Converts an enum value, by its name or its number.
  func enumeration(_ descriptor: UnsafePointer<ProtobufCEnumDescriptor>) throws(WireError) -> Int32 {
    if case .string(let name) = value {
      guard let found = protobuf_c_enum_descriptor_get_value_by_name(descriptor, name) else {
        throw refusal("a name of \(String(cString: descriptor.pointee.name))")
      }
      return Int32(found.pointee.value)
    }
    guard let number = value.int64Value.flatMap({ Int32(exactly: $0) }) else {
      throw refusal("a name or number of \(String(cString: descriptor.pointee.name))")
    }
    return number
  }

  func text() throws(WireError) -> String {
    guard case .string(let text) = value else { throw refusal("a string, not \(value.kind)") }
    guard !text.utf8.contains(0) else { throw .embeddedNUL(field: path) }
    return text
  }

  /// Decodes Base64 in the standard or the URL-safe alphabet, with or without padding.
  func bytes() throws(WireError) -> [UInt8] {
    guard case .string(let text) = value,
      let bytes = Base64.standard.decodeLeniently(text) ?? Base64.url.decodeLeniently(text)
    else { throw refusal("base64") }
    return bytes
  }
}
