/// The part of a request's target behind the question mark: names with their values, which may repeat.
struct Query {
  private let items: [(name: String, value: String)]

  init(_ text: String) {
    items = text.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? String(parts[1]) : ""
      return (String(parts[0]).removingPercentEncoding(), value.removingPercentEncoding())
    }
  }

  subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }
}

extension String {
  /// The text with `%41` as `A` and `+` as a space. What is not UTF-8 becomes U+FFFD.
  func removingPercentEncoding() -> String {
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
