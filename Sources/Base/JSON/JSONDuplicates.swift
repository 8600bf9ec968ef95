/// What becomes of an object that names a member twice. RFC 8259 allows it, and lets readers differ.
package enum JSONDuplicates: Hashable, Sendable {
  /// The last value counts, in the place of the first: what most readers do.
  case lastCounts
  /// The text is refused. For what is signed, or decides something: two readers must not see two documents
  /// in one.
  case refused
}
