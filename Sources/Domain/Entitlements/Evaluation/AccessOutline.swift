package import AppStore

/// The access intervals of all purchases of one customer, without the facts that confer them.
///
/// Few of many purchases decide the answers of the present and the future: of two that grant access in the same way,
/// the one that ends later. The outline selects their lines, so that a write evaluates these instead of thousands. It
/// takes 24 bytes for each interval, and a new line adds to it without reading the others.
package struct AccessOutline: Sendable {
  /// The lines on which the answers from an instant on depend.
  package struct Selection: Sendable {
    package fileprivate(set) var lines: Set<String> = []
    /// Those of them that are needed as a whole; of the others the tail suffices.
    package fileprivate(set) var wholeLines: Set<String> = []
    /// The access of the other lines.
    package fileprivate(set) var omitted = OmittedAccess()
  }

  /// The intervals of one entitlement.
  fileprivate struct Access {
    var spans: [OutlineSpan] = []
    /// The intervals of grants and app installs, which reduced facts include.
    var others: [OutlineSpan] = []
    /// The lines with non-renewing subscriptions, which extend each other across lines.
    var dependentLines: Set<Int32> = []
    /// The times of access of ``spans``; `nil` if they must be computed from all of them.
    var runs: AccessRuns? = AccessRuns()
  }

  /// The start of a long line, whose intervals no longer change. The rest of the line is its tail.
  package struct Head: Sendable {
    /// The number of chunks in it.
    package fileprivate(set) var chunks: Int
    /// The last expiry of its periods.
    package fileprivate(set) var lastExpiry: Instant
    fileprivate let number: Int32
  }

  /// The ``AppDefinition/fingerprint`` under which it was made and is valid.
  package let fingerprint: UInt64
  private let appTransactions: [AppTransactionFact]
  private var access: [String: Access] = [:]
  private var names: [String] = []
  private var numbers: [String: Int32] = [:]
  /// The first purchase of each line whose product is not in the catalog.
  private var unknownProducts: [Int32: Instant] = [:]
  private var heads: [Int32: Head] = [:]
  /// The numbers of heads, which have the names of their lines.
  private var headNumbers: Set<Int32> = []

  /// Makes the outline of all facts of a customer.
  package init(_ facts: CustomerFacts, in app: AppDefinition) {
    fingerprint = app.fingerprint
    appTransactions = facts.appTransactions
    for id in facts.lineIDs { replace(id, with: facts.ofLine(id), in: app) }
    replaceGrants(facts.grants, in: app)
  }

  /// Replaces the grants of the customer.
  package mutating func replaceGrants(_ grants: [GrantFact], in app: AppDefinition) {
    let facts = CustomerFacts(lines: [], grants: grants, appTransactions: appTransactions)
    for entitlement in app.entitlements {
      guard let rules = app.rules(of: entitlement) else { continue }
      let others = AccessIntervals(facts, rules).all.map { OutlineSpan($0, line: -1) }
      guard !others.isEmpty || access[entitlement]?.others.isEmpty == false else { continue }
      access[entitlement, default: Access()].others = others
    }
  }

  /// The number of intervals, for limits of memory.
  package var size: Int { names.count + access.values.reduce(0) { $0 + $1.spans.count } }

  /// The head of a line; `nil` if the line is its own tail.
  package func head(of line: String) -> Head? { numbers[line].flatMap { heads[$0] } }

  /// Replaces the facts of a line, or of its tail. The app installs of the customer must be the same.
  package mutating func replace(
    _ line: String, with facts: CustomerFacts, isTail: Bool = false, in app: AppDefinition
  ) {
    let (number, isNew) = number(of: line)
    let whole = CustomerFacts(
      lines: [facts.purchases(in: app)], grants: [], appTransactions: appTransactions)
    if !isTail { removeHead(of: number) }
    let sealed = facts.sealedCount
    if sealed > 0 { extendHead(of: number, with: facts.transactions[..<sealed]) }
    let head = heads[number]?.number ?? number
    if !isTail { unknownProducts[number] = nil }
    for entitlement in app.entitlements {
      guard let rules = app.rules(of: entitlement) else { continue }
      let intervals = AccessIntervals(whole, rules)
      unknownProducts[number] =
        [unknownProducts[number], intervals.firstUnknownProduct].compactMap(\.self).min()
      var spans: [OutlineSpan] = []
      var ofHead: [OutlineSpan] = []
      for interval in intervals.all {
        guard let index = interval.transaction, interval.kind != .replaced else { continue }
        if index < sealed {
          ofHead.append(OutlineSpan(interval, line: head))
        } else {
          spans.append(OutlineSpan(interval, line: number))
        }
      }
      if !ofHead.isEmpty { access[entitlement, default: Access()].extend(head, with: ofHead) }
      let isDependent = whole.transactions.contains {
        $0.type == .nonRenewingSubscription && rules.products[$0.productID] != nil
      }
      access[entitlement, default: Access()].replace(
        number, isNew: isNew, with: spans, sealed: ofHead, isDependent: isDependent)
    }
  }

  /// Counts transactions that moved from the tail of a line to its head, whose spans have a number of their
  /// own, so that they stay when the tail is replaced.
  private mutating func extendHead(of line: Int32, with transactions: ArraySlice<TransactionFact>) {
    let lastExpiry = transactions.compactMap(\.expiresDate).max() ?? .distantPast
    let chunks = transactions.count / CustomerFacts.chunkSize
    if let known = heads[line] {
      heads[line] = Head(
        chunks: known.chunks + chunks, lastExpiry: max(known.lastExpiry, lastExpiry), number: known.number)
    } else {
      let number = Int32(names.count)
      names.append(names[Int(line)])
      headNumbers.insert(number)
      heads[line] = Head(chunks: chunks, lastExpiry: lastExpiry, number: number)
    }
  }

  private mutating func removeHead(of line: Int32) {
    guard let head = heads.removeValue(forKey: line)?.number else { return }
    headNumbers.remove(head)
    for entitlement in access.keys {
      access[entitlement]?.spans.removeAll { $0.line == head }
      access[entitlement]?.runs = nil
    }
  }

  private mutating func number(of line: String) -> (Int32, isNew: Bool) {
    if let known = numbers[line] { return (known, false) }
    let number = Int32(names.count)
    names.append(line)
    numbers[line] = number
    return (number, true)
  }

  /// Selects the lines that decide the answers from `instant` on.
  package mutating func selection(from instant: Instant) -> Selection {
    for entitlement in access.keys { access[entitlement]?.completeRuns() }
    var selection = Selection()
    for (entitlement, access) in access {
      guard access.dependentLines.isEmpty else {
        // The intervals of these lines depend on each other, so all lines of the entitlement are evaluated.
        for span in access.spans {
          selection.lines.insert(names[Int(span.line)])
          if headNumbers.contains(span.line) { selection.wholeLines.insert(names[Int(span.line)]) }
        }
        continue
      }
      let decisive = access.spans.decisive(from: instant) { names[Int($0)] < names[Int($1)] }.map {
        access.spans[$0]
      }
      for span in decisive {
        selection.lines.insert(names[Int(span.line)])
        if headNumbers.contains(span.line) { selection.wholeLines.insert(names[Int(span.line)]) }
      }
      for span in decisive + access.others where span.level > .none {
        let start = access.startOfRun(to: span.start, span.level)
        guard start < span.start else { continue }
        selection.omitted.spans[entitlement, default: []].append(
          .init(level: span.level, start: start, end: span.start))
      }
    }
    let first = unknownProducts.min { ($0.value, names[Int($0.key)]) < ($1.value, names[Int($1.key)]) }
    if let first {
      selection.lines.insert(names[Int(first.key)])
      if heads[first.key] != nil { selection.wholeLines.insert(names[Int(first.key)]) }
    }
    return selection
  }
}

extension AccessOutline.Access {
  /// Adds the intervals of later periods to a head. Unbroken access becomes one interval.
  fileprivate mutating func extend(_ head: Int32, with new: [OutlineSpan]) {
    let all = spans.filter { $0.line == head } + new
    spans.removeAll { $0.line == head }
    spans += all.unbroken
    for span in new { runs?.add(span) }
    // An answer after the last access rests on the latest period itself.
    let latest = all.indices.max { (all[$0].end, all[$0].start) < (all[$1].end, all[$1].start) }
    let withAccess = all.indices.filter { all[$0].level > .none }
      .max { (all[$0].end, all[$0].start) < (all[$1].end, all[$1].start) }
    spans += Set([latest, withAccess].compactMap(\.self)).map { all[$0] }
  }

  /// Replaces the intervals of a line. `sealed` are those that its head got instead.
  fileprivate mutating func replace(
    _ line: Int32, isNew: Bool, with new: [OutlineSpan], sealed: [OutlineSpan], isDependent: Bool
  ) {
    if !isNew {
      // New periods only add to the access of a line. After other changes, such as refunds, the runs are sorted again.
      let kept = new + sealed
      let loses = spans.contains { old in
        old.line == line && old.grantsAccess && !kept.contains { $0.covers(old) }
      }
      if loses { runs = nil }
      spans.removeAll { $0.line == line }
    }
    spans += new
    for span in new { runs?.add(span) }
    if isDependent { dependentLines.insert(line) } else { dependentLines.remove(line) }
  }

  fileprivate mutating func completeRuns() {
    if runs == nil { runs = AccessRuns(spans) }
  }

  /// The start of the unbroken access of at least `level` that reaches `end`.
  fileprivate func startOfRun(to end: Instant, _ level: AccessLevel) -> Instant {
    var start = end
    while true {
      var earlier = runs?.start(of: start, level) ?? start
      for span in others where span.level >= level && start <= span.end { earlier = min(earlier, span.start) }
      guard earlier < start else { return start }
      start = earlier
    }
  }
}
