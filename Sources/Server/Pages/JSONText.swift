internal import AppStore
package import JSON
package import Markup

/// JSON of documents as texts for people.
package enum JSONText {
  /// Returns the members of a JSON object in their order; `nil` for other texts.
  package static func object(_ text: String) -> [(String, JSONValue)]? {
    guard let value = try? JSONValue(parsing: Array(text.utf8)), let object = value.objectValue else {
      return nil
    }
    return object.map { ($0.0, $0.1) }
  }

  /// A member: a time if it is one of Apple's milliseconds, otherwise its JSON.
  package static func value(_ name: String, _ value: JSONValue) -> Markup {
    switch value {
    case .string(let text): return Format.name(withoutDocuments(text).shortened(to: 2_000))
    case .number(let number)
    where (name.hasSuffix("Date") || name.hasSuffix("date")) && (1e11..<1e13).contains(number.double):
      return Format.time(Instant(millisecondsSince1970: Int64(number.double)))
    case .object, .array:
      return
        "<pre tabindex=\"0\">\(withoutDocuments(value).displayText.shortened(to: 20_000))</pre>"
    default: return "\(String(decoding: value.serialized(), as: UTF8.self))"
    }
  }

  /// The value with the beginnings of long texts without spaces: signed documents, receipts and certificates.
  private static func withoutDocuments(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text): .string(withoutDocuments(text))
    case .array(let elements): .array(elements.map(withoutDocuments))
    case .object(let object): .object(JSONObject(object.map { ($0.0, withoutDocuments($0.1)) }))
    default: value
    }
  }

  private static func withoutDocuments(_ text: String) -> String {
    guard text.utf8.count > 400, !text.contains(" ") else { return text }
    return "\(text.prefix(40))… (\(Text.characters(text.count)))"
  }
}
