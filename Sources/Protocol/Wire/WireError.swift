package import JSON

/// The reason why input is not a message of the contract. Field paths use the names of the contract; values
/// are not included.
package enum WireError: Error, Hashable, Sendable {
  /// The bytes are not in protobuf's wire format, or a field has another wire type than declared.
  case malformed(message: String)
  /// The message needs more memory than the limit.
  case tooLarge(limit: Int)
  /// The nesting of messages exceeds the limit.
  case tooDeep(limit: Int)
  /// A string field is not UTF-8.
  case invalidUTF8(field: String)
  /// A string field contains U+0000.
  case embeddedNUL(field: String)
  /// A text of a request is longer than its limit, both in bytes.
  case textTooLong(field: String, size: Int, limit: Int)
  /// The text is not JSON.
  case notJSON(JSONError)
  /// The JSON form has a member that the message does not define.
  case unknownField(String)
  /// The JSON form sets a field twice.
  case duplicateField(String)
  /// The JSON form has an invalid value; `expected` describes the valid ones.
  case invalidValue(field: String, expected: String)
}

extension WireError {
  /// The invalid field, if the error is about one.
  package var field: String? {
    switch self {
    case .malformed, .tooLarge, .tooDeep, .notJSON: nil
    case .invalidUTF8(let field), .embeddedNUL(let field), .textTooLong(let field, _, _),
      .unknownField(let field), .duplicateField(let field), .invalidValue(let field, _):
      field
    }
  }

  /// Prefixes the field path with `name`.
  func inside(_ name: String) -> WireError {
    switch self {
    case .invalidUTF8(let field): .invalidUTF8(field: "\(name).\(field)")
    case .embeddedNUL(let field): .embeddedNUL(field: "\(name).\(field)")
    case .textTooLong(let field, let size, let limit):
      .textTooLong(field: "\(name).\(field)", size: size, limit: limit)
    case .malformed, .tooLarge, .tooDeep, .notJSON, .unknownField, .duplicateField, .invalidValue: self
    }
  }
}

extension WireError: CustomStringConvertible {
  /// A phrase that does not contain values of the message.
  package var description: String {
    switch self {
    case .malformed(let message): "the bytes are not a \(message)"
    case .tooLarge(let limit): "the message needs more than \(limit) bytes of memory"
    case .tooDeep(let limit): "messages are nested deeper than \(limit) levels"
    case .invalidUTF8(let field): "\(field) is not UTF-8"
    case .embeddedNUL(let field): "\(field) contains a NUL character"
    case .textTooLong(let field, let size, let limit): "\(field) has \(size) bytes, more than \(limit)"
    case .notJSON(let error): error.description
    case .unknownField(let field): "there is no field \(field)"
    case .duplicateField(let field): "\(field) is set twice"
    case .invalidValue(let field, let expected): "\(field.isEmpty ? "the value" : field) must be \(expected)"
    }
  }
}
