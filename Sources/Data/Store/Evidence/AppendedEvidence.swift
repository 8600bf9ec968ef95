/// What came of appending evidence.
package struct AppendedEvidence: Hashable, Sendable {
  /// The number under which it is kept.
  package let id: EvidenceID
  /// It was there already; nothing was written, and `id` is the number it has had.
  package let isDuplicate: Bool

  /// The number of a piece of evidence, and whether it had it before.
  package init(id: EvidenceID, isDuplicate: Bool) {
    self.id = id
    self.isDuplicate = isDuplicate
  }
}
