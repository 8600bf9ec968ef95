internal import Bytes
internal import HTTP

/// The values of a form. Only the fields of the action are in it.
struct ActionForm: Hashable, Sendable {
  private(set) var values: [String: String] = [:]

  /// Reads the fields of the action from a form that was submitted, or from the link that opens it; a missing one is empty.
  init(_ query: Query, fields: [ActionField], isSubmitted: Bool) {
    for field in fields {
      var value = query[field.name] ?? ""
      // Forms send each line end as two characters.
      if isSubmitted { value = value.replacing("\r\n", with: "\n") }
      if let encoded = query[Self.encodedName(field.name)] { value = PercentEncoding.decode(encoded) }
      values[field.name] = field.isExact ? value : value.trimmed
    }
  }

  subscript(name: String) -> String {
    get { values[name] ?? "" }
    set { values[name] = newValue }
  }

  /// The values in a fixed order, for a token.
  var binding: [String] { values.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] } }

  /// The name of a field whose value is percent-encoded, because no control of a page can have it.
  static func encodedName(_ name: String) -> String { "\(name).encoded" }

  /// Whether a control sends `text` as it is. HTML has no control characters, and line ends of one kind only; a control of
  /// one line has none.
  static func canSend(_ text: String, inOneLine: Bool) -> Bool {
    text.utf8.allSatisfy { byte in
      byte >= 0x20 && byte != 0x7F || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n") && !inOneLine
    }
  }
}
