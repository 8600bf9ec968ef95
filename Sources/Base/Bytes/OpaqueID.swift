/// An id that only its bytes in UTF-8 identify. `String` also treats canonically equivalent texts as equal, such as `é` and
/// an `e` with a combining accent: other ids for every other program.
package struct OpaqueID: Hashable, Sendable {
  /// The id as it arrived.
  package let text: String

  /// Creates an id from its text.
  package init(_ text: String) { self.text = text }

  package static func == (left: OpaqueID, right: OpaqueID) -> Bool { left.text.hasSameBytes(as: right.text) }

  package func hash(into hasher: inout Hasher) {
    text.utf8.span.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

extension Sequence<String> {
  /// The ids, each once, in their order.
  package var distinctIDs: [String] {
    var seen: Set<OpaqueID> = []
    return filter { seen.insert(OpaqueID($0)).inserted }
  }

  /// Whether `id` is one of these ids.
  package func containsID(_ id: String) -> Bool { contains { $0.hasSameBytes(as: id) } }
}
