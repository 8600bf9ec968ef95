package import JSON

/// Why outside bytes are not a message of the contract. Field paths are the message's own names; contents
/// are not repeated.
package enum WireError: Error, Hashable, Sendable {
  /// Not protobuf's wire format, or a field with another wire type than declared.
  case malformed(message: String)
  /// The message would take more memory than it may.
  case tooLarge(limit: Int)
  /// Messages inside messages beyond the limit.
  case tooDeep(limit: Int)
  case invalidUTF8(field: String)
  case embeddedNUL(field: String)
  /// The JSON form is not even JSON.
  case notJSON(JSONError)
  /// The JSON form has a member that the message has not.
  case unknownField(String)
  /// The JSON form names one field, or two members of one oneof, twice.
  case duplicateField(String)
  /// The JSON form has a value that the field cannot take; `expected` says which it can.
  case invalidValue(field: String, expected: String)
}

extension WireError {
  /// The field that is wrong, where one is.
  package var field: String? {
    switch self {
    case .malformed, .tooLarge, .tooDeep, .notJSON: nil
    case .invalidUTF8(let field), .embeddedNUL(let field), .unknownField(let field),
      .duplicateField(let field), .invalidValue(let field, _):
      field
    }
  }

  /// The same error one level up, in the field `name`.
  func inside(_ name: String) -> WireError {
    switch self {
    case .invalidUTF8(let field): .invalidUTF8(field: "\(name).\(field)")
    case .embeddedNUL(let field): .embeddedNUL(field: "\(name).\(field)")
    case .malformed, .tooLarge, .tooDeep, .notJSON, .unknownField, .duplicateField, .invalidValue: self
    }
  }
}

extension WireError: CustomStringConvertible {
  /// One phrase without the message's content.
  package var description: String {
    switch self {
    case .malformed(let message): "the bytes are not a \(message)"
    case .tooLarge(let limit): "the message needs more than \(limit) bytes of memory"
    case .tooDeep(let limit): "messages are nested deeper than \(limit) levels"
    case .invalidUTF8(let field): "\(field) is not UTF-8"
    case .embeddedNUL(let field): "\(field) contains a NUL character"
    case .notJSON(let error): error.description
    case .unknownField(let field): "there is no field \(field)"
    case .duplicateField(let field): "\(field) is set twice"
    case .invalidValue(let field, let expected): "\(field.isEmpty ? "the value" : field) must be \(expected)"
    }
  }
}
