package import AppStore
package import Entitlements
internal import FamilySharing
package import Store

/// The facts of one customer as they were known at any time, rebuilt from evidence and links.
///
/// It reads all evidence about the lines that the customer ever owned, once. That suits the call that explains
/// an answer, not the one that returns it.
package struct FactHistory {
  /// A point in the commit order.
  struct Step: Hashable, Comparable {
    let knownAt: Instant
    let evidence: EvidenceID

    static func < (left: Step, right: Step) -> Bool {
      (left.knownAt, left.evidence) < (right.knownAt, right.evidence)
    }
  }

  private struct Document {
    let step: Step
    let items: [DecodedItem]
  }

  let customer: CustomerKey
  private let ownership: [OwnershipChange]
  private var documents: [LineKey: [Document]] = [:]
  /// The stored facts of the lines with evidence whose body was purged.
  private var storedFacts: [LineKey: CustomerFacts] = [:]
  /// A word for each piece of evidence: that of the command, or the kind of evidence.
  private(set) var words: [EvidenceID: String] = [:]

  /// Reads the history of `customer`.
  /// It covers the lines that the customer owns or has owned, and the purchases of their seats.
  package init(of customer: CustomerKey, in reader: any StoreSnapshot) throws(StoreError) {
    self.customer = customer
    ownership = try reader.ownershipChanges(of: customer)
    for line in Set(ownership.map(\.line)) {
      try read(line, reader)
      guard line.isSeat, let seat = SeatHistory(items(about: line)).seats.first else { continue }
      try read(line.other(seat.originalTransactionID), reader)
    }
    for change in ownership where words[change.evidenceID] == nil {
      if let stored = try reader.evidence(change.evidenceID) { words[stored.id] = stored.evidence.word }
    }
  }

  /// Reads the evidence about a line. The facts of a line with purged bodies are those that are stored, because its
  /// documents cannot be decoded again.
  private mutating func read(_ line: LineKey, _ reader: any StoreSnapshot) throws(StoreError) {
    guard documents[line] == nil else { return }
    var isPurged = false
    documents[line] = try reader.evidence(about: line).map { stored in
      isPurged = isPurged || stored.evidence.content.body == nil
      words[stored.id] = stored.evidence.word
      return Document(
        step: Step(knownAt: stored.knownAt, evidence: stored.id),
        items: EvidenceDecoder.decode(stored.evidence))
    }
    if isPurged { storedFacts[line] = try reader.facts(of: line) }
  }

  /// Returns the facts of the lines that the customer owned at `instant`, as of the evidence known by then;
  /// grants and app installs included.
  ///
  /// A write is known from the time at which its body ran, so that a caller who names the recorded time of an event gets
  /// the facts after it. An answer that was given before the commit, milliseconds later, lacks them: only a position
  /// says exactly what an answer included.
  package func facts(knownAt instant: Instant) -> CustomerFacts {
    facts(through: Step(knownAt: instant, evidence: EvidenceID(rawValue: .max)))
  }

  /// Returns the facts as of the commit of `step`.
  func facts(through step: Step) -> CustomerFacts {
    var lines: Set<LineKey> = []
    for change in ownership where change.step <= step {
      if change.gained { lines.insert(change.line) } else { lines.remove(change.line) }
    }
    var facts = CustomerFacts()
    for line in lines {
      if line.isSeat, let seat = SeatHistory(items(about: line, through: step)).seats.first {
        facts.merge(purchase(line.other(seat.originalTransactionID), from: line, through: step))
      }
      facts.merge(self.facts(of: line, through: step))
    }
    return facts
  }

  /// The commits after `instant` that concern the customer, in order.
  func steps(after instant: Instant) -> [Step] {
    let ofDocuments = documents.values.joined().map(\.step)
    return Set(ofDocuments + ownership.map(\.step)).filter { $0.knownAt > instant }.sorted()
  }

  private func facts(of line: LineKey, through step: Step) -> CustomerFacts {
    var facts = storedFacts[line]?.known(at: step.knownAt) ?? CustomerFacts()
    for document in documents[line] ?? [] where document.step <= step {
      for item in document.items { facts.apply(item, about: line, knownAt: document.step.knownAt) }
    }
    return facts
  }

  /// Returns the facts of a purchase as the holder of one of its seats has them.
  private func purchase(_ purchase: LineKey, from seat: LineKey, through step: Step) -> CustomerFacts {
    let seats = SeatHistory(items(about: purchase, through: step)).seats
    guard let own = seats.first(where: { $0.seatID == seat.lineID }) else {
      return CustomerFacts()
    }
    return facts(of: purchase, through: step).assigned(to: own, among: seats)
  }

  private func items(about line: LineKey, through step: Step? = nil) -> [DecodedItem] {
    (documents[line] ?? []).filter { document in step.map { document.step <= $0 } ?? true }.flatMap(\.items)
  }
}

extension OwnershipChange {
  fileprivate var step: FactHistory.Step { .init(knownAt: at, evidence: evidenceID) }
}

extension Evidence {
  /// The command's word, or the kind of evidence.
  fileprivate var word: String { EvidenceDecoder.command(in: self)?.word ?? kind.rawValue }
}

extension CustomerFacts {
  /// The facts that must have been known at `instant`: purchases made by then, and early renewals that had arrived, as they
  /// were before the refunds, reversals and upgrades after it, and the renewal infos. Stands for the evidence whose bodies
  /// were purged.
  func known(at instant: Instant) -> CustomerFacts {
    var known = CustomerFacts()
    for index in transactions.indices
    where (transactions[index].arrivedEarlyAt ?? transactions[index].purchaseDate) <= instant {
      var transaction = transactions[index].refunded(asOf: instant)
      if transaction.isUpgraded, let upgrade = upgrade(of: index), instant < upgrade.purchaseDate {
        transaction.isUpgraded = false
      }
      transaction.signedDate = min(transaction.signedDate, transaction.purchaseDate)
      known.insert(transaction)
    }
    for history in renewalHistories.compactMap({ $0.known(at: instant) }) { known.insert(history) }
    for grant in grants where grant.since <= instant { known.insert(grant) }
    for appTransaction in appTransactions { known.insert(appTransaction) }
    return known
  }

  /// The purchase that replaced an upgraded period: the one before it that replaced a renewal, or the first one after it of
  /// another product or billing plan of its line.
  private func upgrade(of index: Int) -> TransactionFact? {
    if let replacing = upgrade(replacingRenewal: index) { return transactions[replacing] }
    let upgraded = transactions[index]
    return transactions[(index + 1)...].prefix { $0.originalTransactionID == upgraded.originalTransactionID }
      .first { $0.hasOtherPlan(than: upgraded) }
  }
}

extension TransactionFact {
  /// The transaction with the refunds that were in force at `instant`.
  fileprivate func refunded(asOf instant: Instant) -> TransactionFact {
    var fact = self
    if let revoked = revocationDate, revoked > instant { fact.revocationDate = nil }
    let reversed = reversedRefunds.last { $0.refund.date <= instant && instant < $0.reversedAt }
    if let refund = reversed?.refund {
      fact.revocationDate = refund.date
      fact.revocationReason = refund.isAppIssue ? .appIssue : .other
      fact.details.revocationPercentage = refund.percentage
    }
    if revokedSeatQuantity != nil {
      fact.revokedSeatQuantity = details.seatRefunds.last { $0.reportedAt <= instant }?.quantity
    }
    return fact
  }
}

extension CustomerFacts {
  /// Adds the fact of `item`, if it belongs to `line`.
  mutating func apply(_ item: DecodedItem, about line: LineKey, knownAt: Instant? = nil) {
    if let lineID = item.lineID, lineID != line.lineID { return }
    switch item {
    case .transaction(let fact): insert(knownAt.map(fact.arrived) ?? fact)
    case .renewal(let fact): insert(fact, knownAt: knownAt)
    case .appTransaction(let fact): insert(fact)
    case .command(let command):
      switch command.action {
      case .grant(let fact, _) where fact.grantID == line.lineID: insert(fact)
      case .revokeGrant(let fact) where fact.grantID == line.lineID: insert(fact)
      case .grant, .revokeGrant, .move, .merge, .undo, .claimSeat, .associateSeat, .releaseSeats, .erase,
        .appleCall, .consent, .registerToken, .fulfill, .settleConsent, .addNote, .deleteNote, .setAttributes:
        break
      }
    case .endedSeatClaims, .notification, .rejectedNotification: break
    }
  }
}

/// The seats that evidence claimed and released, in the state after the last piece.
private struct SeatHistory {
  private(set) var seats: [Seat] = []
  /// When Apple ended claims, by Apple's ids: the end may arrive before the claim.
  private var ends: [String: Instant] = [:]

  /// Applies items in the order of their arrival.
  init(_ items: [DecodedItem]) {
    for item in items { apply(item) }
  }

  /// Applies what concerns seats; nothing else changes them.
  private mutating func apply(_ item: DecodedItem) {
    switch item {
    case .command(let command):
      switch command.action {
      case .claimSeat(var seat, _):
        if let end = seat.seatClaimID.flatMap({ ends[$0] }) { seat.release(at: end) }
        seats.append(seat)
      case .releaseSeats(let ids, let instant):
        for index in seats.indices where ids.contains(seats[index].seatID) {
          seats[index].release(at: instant)
        }
      case .move, .merge, .undo, .grant, .revokeGrant, .associateSeat, .erase, .appleCall, .consent,
        .registerToken, .fulfill, .settleConsent, .addNote, .deleteNote, .setAttributes:
        break
      }
    case .endedSeatClaims(let claims, let endedAt):
      guard let endedAt else { return }
      for claim in claims where ends[claim] == nil { ends[claim] = endedAt }
      for index in seats.indices where seats[index].seatClaimID.map(claims.contains) == true {
        seats[index].release(at: endedAt)
      }
    case .transaction, .renewal, .appTransaction, .notification, .rejectedNotification: break
    }
  }
}
