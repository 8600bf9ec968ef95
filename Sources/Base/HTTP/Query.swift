/// A query string; names may repeat.
package struct Query: Sendable {
  private let items: [(name: String, value: String)]

  /// Decodes the text after the `?` of a request target.
  package init(_ text: String) {
    items = text.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? String(parts[1]) : ""
      return (String(parts[0]).removingPercentEncoding(), value.removingPercentEncoding())
    }
  }

  /// The value of the first item with this name; empty for one without `=`.
  package subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  /// The values of all items with this name, in order.
  package func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }
}

extension String {
  /// Decodes `%41` as `A` and `+` as a space. Malformed UTF-8 becomes U+FFFD.
  package func removingPercentEncoding() -> String {
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let code = UInt8(String(Substring(rest.prefix(2))), radix: 16), rest.count >= 2 else {
          bytes.append(byte)
          continue
        }
        bytes.append(code)
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
