internal import AppStore
internal import Entitlements
internal import Store

/// The cause of a change, as its event states it.
struct ChangeOrigin {
  var cause: ChangeCause
  /// `nil` if time or the catalog caused the change.
  let evidence: EvidenceID?
  /// The operator's user for the audit trail; empty if there is none.
  var actor = ""

  /// A change that a document caused.
  static func document(_ evidence: EvidenceID) -> ChangeOrigin { .init(cause: .evidence, evidence: evidence) }

  /// A change that time caused.
  static let time = ChangeOrigin(cause: .time, evidence: nil)
}

/// The changes of the applied evidence, before the affected customers are compared with their old state.
struct ChangeSet {
  /// A customer whose facts may have changed.
  struct AffectedCustomer {
    /// The first origin counts.
    let origin: ChangeOrigin
    /// Lines whose facts must be added to the customer's.
    var lines: Set<LineKey> = []
    /// Those of them that were linked to the customer just now.
    var linkedLines: Set<LineKey> = []
    /// Whether facts may have been removed, so that all must be read again.
    var needsRebuild = false
    /// Other customers whose `appAccountToken` a linked line carries, by line id.
    var tokenOwners: [String: String] = [:]
  }

  /// A purchase with an `appAccountToken` that has no owner.
  struct QueuedToken {
    let line: LineKey
    /// In lower case.
    let token: String
    /// The document that states it.
    let evidence: EvidenceID
  }

  /// An event that changes no answer.
  struct InformationalEvent {
    /// The recipients of the event.
    enum Subject {
      /// All owners of a line.
      case owners(LineKey)
      case customer(CustomerKey)
    }

    let kind: EntitlementChange.Kind
    let subject: Subject
    /// Apple's id of the transaction that it is about; empty for the latest one of the line.
    let transactionID: String
    let origin: ChangeOrigin
    /// When it became true; `nil` for now.
    let effectiveAt: Instant?
  }

  /// A claim that failed, because the line belongs to other customers.
  struct Dispute {
    let line: LineKey
    let owners: [String]
    let claimant: CustomerKey
    /// The document that the claimant submitted.
    let evidence: EvidenceID
  }

  /// A customer to erase after the last events.
  struct Erasure {
    let customer: CustomerKey
    let pseudonym: String
    /// The command.
    let evidence: EvidenceID
    let actor: String
    /// The lines that the customer owned at any time, or that were bought with its token.
    var lines: [LineKey] = []
    /// The unlinked lines and the changed facts.
    var rows: Int64

    /// Whether a replay runs it: the evidence names only the pseudonym then, and needs no redaction.
    var isReplayed: Bool { customer.customerID == pseudonym }
  }

  /// In the order of their first change, which is the order of their events.
  private(set) var affectedCustomers: [CustomerKey] = []
  private(set) var affected: [CustomerKey: AffectedCustomer] = [:]
  /// The facts that are new, by line; complete after ``complete()``.
  private(set) var newFacts: [LineKey: CustomerFacts] = [:]
  /// The transactions that ``complete()`` adds to them. A receipt may have thousands of one line.
  private var pendingFacts: [LineKey: [TransactionFact]] = [:]
  /// The transactions among them with their latest documents, in the order in which they were stored.
  private var newTransactions: [(line: LineKey, id: String, evidence: EvidenceID)] = []
  /// The number of documents that stated a transaction's present.
  var newTransactionCount: Int { newTransactions.count }
  /// The states of purchases in other stores that were stored.
  private var newGrantStates: [(line: LineKey, revision: Int64, evidence: EvidenceID)] = []
  /// The document that stated the last new fact of each line.
  private(set) var newestEvidence: [LineKey: EvidenceID] = [:]
  /// The notification of the withdrawn consent for the app install of each purchase.
  var withdrawnConsents: [LineKey: EvidenceID] = [:]
  /// The number of documents that stated something new.
  private(set) var newDocuments = 0
  private(set) var informationalEvents: [InformationalEvent] = []
  var disputes: [Dispute] = []
  /// The purchases with a token that entered the claim queue, or are still in it.
  var queuedTokens: [QueuedToken] = []
  var erasures: [Erasure] = []
  /// The replacements of the `appAccountToken`s of erased customers, which are in lower case.
  var erasedTokens: [String: String] = [:]
  /// The record of the last notification.
  var notification: NotificationRecord?
  /// The events and effects of what was derived before.
  var events: [StoredEvent] = []
  var effects: [LedgerEffect] = []

  /// Records that facts of `line` must be added to the customer's, or that all must be read again.
  mutating func markAffected(
    _ customer: CustomerKey, line: LineKey? = nil, needsRebuild: Bool = false, by origin: ChangeOrigin
  ) {
    update(customer, by: origin) { entry in
      if let line { entry.lines.insert(line) }
      entry.needsRebuild = entry.needsRebuild || needsRebuild
    }
  }

  /// Records that `line` was linked to the customer. `tokenOwner` is another customer with whose
  /// `appAccountToken` it was bought.
  mutating func markAffected(
    _ customer: CustomerKey, linked line: LineKey, tokenOwner: String? = nil, by origin: ChangeOrigin
  ) {
    update(customer, by: origin) { entry in
      entry.lines.insert(line)
      entry.linkedLines.insert(line)
      if let tokenOwner { entry.tokenOwners[line.lineID] = tokenOwner }
    }
  }

  private mutating func update(
    _ customer: CustomerKey, by origin: ChangeOrigin, _ body: (inout AffectedCustomer) -> Void
  ) {
    if affected[customer] == nil { affectedCustomers.append(customer) }
    body(&affected[customer, default: AffectedCustomer(origin: origin)])
  }

  /// Records a transaction that was stored; `evidence` is the document.
  mutating func recordFact(
    _ fact: TransactionFact, of line: LineKey, from evidence: EvidenceID, _ insertion: FactInsertion
  ) {
    recordDocument(isNew: insertion != .duplicate)
    guard insertion != .duplicate else { return }
    pendingFacts[line, default: []].append(fact)
    // The present state of the transaction is that of its latest document.
    if insertion == .latest { newTransactions.append((line, fact.transactionID, evidence)) }
    newestEvidence[line] = evidence
  }

  /// Whether documents caused changes of any of the customers.
  func hasDocuments(about customers: [CustomerKey]) -> Bool {
    customers.contains { affected[$0]?.origin.cause == .evidence }
  }

  /// Completes ``newFacts``, after all evidence was applied.
  mutating func complete() {
    for (line, facts) in pendingFacts {
      newFacts[line, default: CustomerFacts()].merge(CustomerFacts(transactions: facts))
    }
    pendingFacts = [:]
  }

  /// The document that states a deciding fact of a customer; `nil` if this write stored none.
  func evidence(of fact: DecidingFact, of customer: CustomerKey) -> EvidenceID? {
    switch fact {
    case .transaction(let id, let lineID):
      let line = customer.line(lineID)
      return newTransactions.last { $0.id == id && $0.line == line }?.evidence
    case .grant(let id, let revision):
      let line = customer.line(id)
      return newGrantStates.last { $0.revision == revision && $0.line == line }?.evidence
    }
  }

  /// Records a state of a purchase in another store that was stored.
  mutating func recordGrantState(_ revision: Int64, of line: LineKey, from evidence: EvidenceID) {
    newGrantStates.append((line, revision, evidence))
  }

  /// Records a renewal info that was stored.
  mutating func recordFact(
    _ fact: RenewalFact, of line: LineKey, knownAt: Instant, from evidence: EvidenceID,
    _ insertion: FactInsertion
  ) {
    // An older document may change what is known about the past, but says nothing new about the present.
    recordDocument(isNew: insertion == .latest)
    guard insertion != .duplicate else { return }
    newFacts[line, default: CustomerFacts()].insert(fact, knownAt: knownAt)
    newestEvidence[line] = evidence
  }

  /// Records a document that was stored.
  mutating func recordDocument(isNew: Bool) {
    if isNew { newDocuments += 1 }
  }

  /// Records an event that changes no answer; it is appended before the events of changes.
  mutating func emitInformational(
    _ kind: EntitlementChange.Kind, to subject: InformationalEvent.Subject, about transactionID: String = "",
    by origin: ChangeOrigin, at effectiveAt: Instant? = nil
  ) {
    informationalEvents.append(
      InformationalEvent(
        kind: kind, subject: subject, transactionID: transactionID, origin: origin, effectiveAt: effectiveAt))
  }
}
