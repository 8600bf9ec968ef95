/// A JSON text as a value (RFC 8259): what was written, and nothing read into it.
///
/// Numbers keep their digits and objects keep the order of their members, so a value that was parsed
/// and written again still says what its author said.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

extension JSONValue {
  /// The text of a string, or `nil` for every other kind of value.
  package var stringValue: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The exact integer that a number names, or `nil` for another kind, a fraction, or a number out of range.
  package var int64Value: Int64? {
    if case .number(let number) = self { number.int64 } else { nil }
  }

  /// The number as the nearest `Double`, or `nil` for every other kind of value.
  package var doubleValue: Double? {
    if case .number(let number) = self { number.double } else { nil }
  }

  /// The truth value, or `nil` for every other kind of value.
  package var boolValue: Bool? {
    if case .bool(let flag) = self { flag } else { nil }
  }

  /// The elements of an array, or `nil` for every other kind of value.
  package var arrayValue: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The members of an object, or `nil` for every other kind of value.
  package var objectValue: JSONObject? {
    if case .object(let members) = self { members } else { nil }
  }

  /// Whether this is the literal `null`.
  package var isNull: Bool { self == .null }

  /// What kind of value this is, for messages: "null", "a boolean", "a number", "a string", "an array", "an object".
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral {
  /// Writes `null` as `nil`.
  package init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
  /// Writes a boolean as itself.
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  /// Writes an integer as itself.
  package init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
}

extension JSONValue: ExpressibleByFloatLiteral {
  /// Writes a fraction as itself. A literal beyond the range of `Double` has no JSON form and becomes `null`.
  package init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  /// Writes a string as itself.
  package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
  /// Writes an array as itself.
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// Writes an object as itself, in the order written.
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}
