/// The outcome of adding a document to stored facts.
package enum FactInsertion: Hashable, Sendable {
  /// The facts have all of it, and had it by that time.
  case duplicate
  /// The facts have a later document, which still states the present; this one adds what was true before.
  case older
  /// No later document is stored.
  case latest
}
