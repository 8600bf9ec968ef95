/// A JSON value (RFC 8259).
///
/// Numbers keep their digits and objects their member order, so that parsing and serializing preserves the
/// content.
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

  /// The exact integer of a number, or `nil` for another kind, a fraction, or a number out of range.
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

  /// The kind of value, for messages: "null", "a boolean", "a number", "a string", "an array", "an object".
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
  /// `null`.
  package init(nilLiteral: ()) { self = .null }
}

extension JSONValue: ExpressibleByBooleanLiteral {
  /// A boolean.
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  /// An integer.
  package init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }
}

extension JSONValue: ExpressibleByFloatLiteral {
  /// A number; a literal beyond the range of `Double` becomes `null`.
  package init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  /// A string.
  package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
  /// An array.
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// An object in literal order.
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}
