internal import Bytes

/// A query string; names may repeat.
package struct Query: Sendable {
  private let items: [(name: String, value: String)]

  /// Decodes the text after the `?` of a request target.
  package init(_ text: String) {
    items = text.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? parts[1] : ""
      return (
        PercentEncoding.decode(parts[0], plusIsSpace: true), PercentEncoding.decode(value, plusIsSpace: true)
      )
    }
  }

  /// The value of the first item with this name; empty for one without `=`.
  package subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  /// The values of all items with this name, in order.
  package func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }
}
