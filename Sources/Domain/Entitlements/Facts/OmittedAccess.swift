package import AppStore

/// The access by the facts that reduced ``CustomerFacts`` leave out: as much as the answers need to
/// name the start of unbroken access.
package struct OmittedAccess: Hashable, Sendable {
  /// A time span with unbroken access of at least one level.
  package struct Span: Hashable, Sendable {
    /// The level that is granted throughout.
    package let level: AccessLevel
    /// Inclusive.
    package let start: Instant
    /// Exclusive.
    package let end: Instant

    package init(level: AccessLevel, start: Instant, end: Instant) {
      self.level = level
      self.start = start
      self.end = end
    }
  }

  /// By entitlement.
  package var spans: [String: [Span]]

  package init(spans: [String: [Span]] = [:]) { self.spans = spans }
}

extension CustomerFacts {
  /// The largest number of transactions and renewal infos with which a write evaluates and stores all facts of a
  /// customer. Above it, it evaluates reduced facts (``AccessOutline``) and stores each changed line.
  package static let reductionThreshold = 64

  /// Whether the facts are so many that writes reduce them.
  package var isLarge: Bool {
    guard transactions.count + renewalHistories.count <= Self.reductionThreshold else { return true }
    return transactions.count + renewalHistories.reduce(0) { $0 + $1.signatures.count }
      > Self.reductionThreshold
  }

  /// The ids of the lines with transactions or renewal infos.
  package var lineIDs: Set<String> {
    Set(transactions.map(\.originalTransactionID)).union(renewalHistories.map(\.originalTransactionID))
  }

  /// Combines lines, which are in the order of their ids, with the facts that belong to no line.
  package init(
    lines: [CustomerFacts], grants: [GrantFact], appTransactions: [AppTransactionFact],
    omitted: OmittedAccess? = nil
  ) {
    self.init(
      ordered: lines.flatMap(\.transactions), lines.flatMap(\.renewalHistories), grants, appTransactions)
    self.omitted = omitted
  }

  /// The facts that `outline` selects, and those that belong to no line. The answers from the selection's instant on are
  /// the same.
  package func reduced(to selection: AccessOutline.Selection, of outline: AccessOutline) -> CustomerFacts {
    let lines = selection.lines.sorted().map { id in
      let line = ofLine(id)
      guard let head = outline.head(of: id), !selection.wholeLines.contains(id) else { return line }
      return CustomerFacts.joining(Array(line.chunks(isTail: false).dropFirst(head.chunks)))
    }
    return CustomerFacts(
      lines: lines, grants: grants, appTransactions: appTransactions, omitted: selection.omitted)
  }
}
