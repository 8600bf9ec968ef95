internal import AppStore
internal import Entitlements
internal import Store

// Customers with so many facts that a write evaluates and stores only some of them.
extension Derivation {
  /// Updates a customer with reduced facts, at a cost that does not depend on the number of the other lines, except
  /// for passes over their intervals (``AccessOutline``).
  ///
  /// - Returns: `false` if all facts must be read, because some were removed, or the catalog or the clock changed.
  mutating func updateReduced(
    _ customer: CustomerKey, _ entry: ChangeSet.AffectedCustomer, _ stored: CustomerState,
    in app: AppDefinition
  ) throws(StoreError) -> Bool {
    guard !entry.needsRebuild, stored.answers.fingerprint == app.fingerprint, stored.answers.start <= now,
      entry.lines.allSatisfy({ $0.isPurchase || $0.isGrant })
    else { return false }
    var outline = try outline(of: customer, stored, in: app)
    guard let write = try reducedWrite(of: customer, entry, stored.facts, &outline, in: app) else {
      return false
    }
    let diff = StateDiff(
      before: CustomerState(facts: write.before, answers: stored.answers), after: write.after, in: app,
      at: now, cause: entry.origin.cause)
    if diff.mustReevaluate {
      let recorded = try record(diff, of: customer, entry)
      for (id, line) in write.lines {
        try putChunks(of: id, of: customer, line.before, line.after, from: line.firstChunk)
      }
      try store.putFacts(write.reducedFacts(outline), answers: recorded.answers, of: customer)
      // The lines that were not read may have the contradiction of the mark.
      try mark(customer, isContradictory: recorded.isContradictory || stored.isContradictory, stored)
    }
    store.outlines.put(outline, of: customer)
    return true
  }

  /// Reads the changed lines and those that decide an answer after the write, and updates the outline.
  ///
  /// - Returns: `nil` if an answer depends on the head of a line whose tail alone was read.
  private mutating func reducedWrite(
    of customer: CustomerKey, _ entry: ChangeSet.AffectedCustomer, _ stored: CustomerFacts,
    _ outline: inout AccessOutline, in app: AppDefinition
  ) throws(StoreError) -> ReducedWrite? {
    var lines: [String: ChangedLine] = [:]
    var grants = CustomerFacts(grants: stored.grants)
    for line in entry.lines {
      guard line.isPurchase else {
        grants.merge(try self.lines.facts(of: line))
        continue
      }
      let changed = try changedLine(line, of: customer, entry, outline.head(of: line.lineID))
      outline.replace(line.lineID, with: changed.after, isTail: changed.isTail, in: app)
      lines[line.lineID] = changed
    }
    if grants.grants != stored.grants { outline.replaceGrants(grants.grants, in: app) }
    let selection = outline.selection(from: now)
    let needsHead = lines.contains { id, line in
      line.isTail
        && (selection.wholeLines.contains(id)
          || stored.ofLine(id).transactions.count > line.before.transactions.count)
    }
    guard !needsHead else { return nil }
    for id in stored.lineIDs.union(selection.lines) where lines[id] == nil {
      let isWhole = selection.wholeLines.contains(id)
      lines[id] = try unchangedLine(
        id, of: customer, stored, isWhole: isWhole, from: isWhole ? 0 : outline.head(of: id)?.chunks ?? 0)
    }
    return ReducedWrite(lines, grants: grants, selection, stored: stored)
  }

  /// Stores the chunks of a line that differ.
  private func putChunks(
    of id: String, of customer: CustomerKey, _ before: CustomerFacts, _ after: CustomerFacts, from first: Int
  ) throws(StoreError) {
    guard before != after else { return }
    let (old, new) = (before.chunks(isTail: first > 0), after.chunks(isTail: first > 0))
    for index in 0..<max(old.count, new.count) {
      let chunk = index < new.count ? new[index] : CustomerFacts()
      guard index >= old.count || old[index] != chunk else { continue }
      try store.putFacts(chunk, ofLine: id, chunk: first + index, of: customer)
    }
  }

  /// The facts of a changed line before and after. New facts after the last expiry of the stored chunks
  /// need only the tail, so that a renewal of a long subscription reads little.
  private mutating func changedLine(
    _ line: LineKey, of customer: CustomerKey, _ entry: ChangeSet.AffectedCustomer,
    _ head: AccessOutline.Head?
  ) throws(StoreError) -> ChangedLine {
    if let head, let new = try incrementalFacts(of: line, entry) {
      let tail = try store.facts(ofLine: line.lineID, from: head.chunks, of: customer)
      if let extended = tail.extendingTail(with: new, after: head.lastExpiry) {
        tails[line] = extended
        return ChangedLine(before: tail, after: extended, firstChunk: head.chunks)
      }
    }
    let before = try store.facts(ofLine: line.lineID, from: 0, of: customer)
    var changed = ChangedLine(before: before, after: before)
    if let known = knownFacts[line] {
      changed.after.merge(known)
    } else if let new = try incrementalFacts(of: line, entry) {
      changed.after.merge(new)
      knownFacts[line] = changed.after
    } else {
      let whole = try lines.facts(of: line)
      changed.after.merge(whole)
      knownFacts[line] = whole
    }
    return changed
  }

  /// Returns a line that decides an answer and did not change: the whole line, or its chunks from `first` on if none of
  /// it is among the stored facts.
  private func unchangedLine(
    _ id: String, of customer: CustomerKey, _ stored: CustomerFacts, isWhole: Bool, from first: Int
  ) throws(StoreError) -> ChangedLine {
    var facts = stored.ofLine(id)
    if facts == CustomerFacts() || isWhole {
      facts = try store.facts(ofLine: id, from: first, of: customer)
    }
    return ChangedLine(before: facts, after: facts)
  }

  private func outline(
    of customer: CustomerKey, _ stored: CustomerState, in app: AppDefinition
  ) throws(StoreError) -> AccessOutline {
    if let known = store.outlines.take(customer), known.fingerprint == app.fingerprint { return known }
    return AccessOutline(try allFacts(of: customer, stored), in: app)
  }

  /// All facts of a customer, also if the stored ones are reduced.
  func allFacts(of customer: CustomerKey, _ stored: CustomerState) throws(StoreError) -> CustomerFacts {
    guard stored.facts.omitted != nil else { return stored.facts }
    return try store.allFacts(of: customer) ?? CustomerFacts()
  }

  /// Stores all facts after a write: line by line if they are many, otherwise as one value. `before` are the facts that
  /// are stored line by line.
  func replaceLines(
    of customer: CustomerKey, _ before: CustomerFacts, with facts: CustomerFacts,
    _ answers: PrecomputedAnswers, in app: AppDefinition
  ) throws(StoreError) {
    store.outlines.discard(customer)
    guard facts.isLarge else {
      try store.deleteLineFacts(of: customer)
      return try store.putFacts(facts, answers: answers, of: customer)
    }
    for id in facts.lineIDs.union(before.lineIDs) {
      try putChunks(of: id, of: customer, before.ofLine(id), facts.ofLine(id), from: 0)
    }
    var outline = AccessOutline(facts, in: app)
    let selection = outline.selection(from: now)
    try store.putFacts(
      facts.reduced(to: selection, of: outline), answers: answers, of: customer)
    store.outlines.put(outline, of: customer)
  }
}

extension StoreTransaction {
  /// Returns facts from which the answers of `app` at `instant` follow; they may be reduced.
  func facts(
    of customer: CustomerKey, in app: AppDefinition, at instant: Instant
  ) throws(StoreError) -> CustomerFacts {
    guard let stored = try self.customer(customer) else { return CustomerFacts() }
    let isValid = stored.answers.fingerprint == app.fingerprint && stored.answers.start <= instant
    guard stored.facts.omitted != nil, !isValid else { return stored.facts }
    return try allFacts(of: customer) ?? CustomerFacts()
  }
}
