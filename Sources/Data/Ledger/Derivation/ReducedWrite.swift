internal import Entitlements

/// The facts that a write reads and stores of a customer with reduced facts.
struct ReducedWrite {
  /// The changed lines and those that decide an answer, in order of their ids.
  let lines: [(id: String, facts: ChangedLine)]
  /// The lines that decide an answer after the write.
  let selection: AccessOutline.Selection
  /// All of these facts before the write.
  let before: CustomerFacts
  /// All of these facts after the write.
  let after: CustomerFacts

  init(
    _ lines: [String: ChangedLine], grants: CustomerFacts, _ selection: AccessOutline.Selection,
    stored: CustomerFacts
  ) {
    let ordered = lines.sorted { $0.key < $1.key }.map { (id: $0.key, facts: $0.value) }
    self.lines = ordered
    self.selection = selection
    before = CustomerFacts(
      lines: ordered.map(\.facts.before), grants: stored.grants, appTransactions: stored.appTransactions,
      omitted: stored.omitted)
    after = CustomerFacts(
      lines: ordered.map(\.facts.after), grants: grants.grants, appTransactions: stored.appTransactions,
      omitted: selection.omitted)
  }

  /// The reduced facts that are stored with the customer after the write.
  func reducedFacts(_ outline: borrowing AccessOutline) -> CustomerFacts {
    var selected: [CustomerFacts] = []
    for (id, line) in lines where selection.lines.contains(id) {
      selected.append(line.tail(selection.wholeLines.contains(id) ? nil : outline.head(of: id)))
    }
    return CustomerFacts(
      lines: selected, grants: after.grants, appTransactions: after.appTransactions,
      omitted: selection.omitted)
  }
}

/// The facts of a line, or of its tail, before the write and after it.
struct ChangedLine {
  let before: CustomerFacts
  var after: CustomerFacts
  /// The number of the chunks before the tail; 0 for a whole line.
  var firstChunk = 0

  var isTail: Bool { firstChunk > 0 }

  /// The facts after the write without the head.
  func tail(_ head: AccessOutline.Head?) -> CustomerFacts {
    guard let head, before != after, head.chunks > firstChunk else { return after }
    return .joining(Array(after.chunks(isTail: isTail).dropFirst(head.chunks - firstChunk)))
  }
}
