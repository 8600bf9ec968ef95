internal import AppStore
package import JSON
package import Markup

/// JSON of documents as texts for people.
package enum JSONText {
  package static func object(_ text: String) -> [(String, JSONValue)]? {
    guard let value = try? JSONValue(parsing: Array(text.utf8)), let object = value.objectValue else {
      return nil
    }
    return object.map { ($0.0, $0.1) }
  }

  /// A member: a time if it is one of Apple's milliseconds, otherwise its JSON.
  package static func value(_ name: String, _ value: JSONValue) -> Markup {
    switch value {
    case .string(let text): return Format.name(text.shortened(to: 2_000))
    case .number(let number)
    where (name.hasSuffix("Date") || name.hasSuffix("date")) && (1e11..<1e13).contains(number.double):
      return Format.time(Instant(millisecondsSince1970: Int64(number.double)))
    case .object, .array:
      return
        "<pre tabindex=\"0\">\(String(decoding: value.serialized(), as: UTF8.self).shortened(to: 20_000))</pre>"
    default: return "\(String(decoding: value.serialized(), as: UTF8.self))"
    }
  }
}
