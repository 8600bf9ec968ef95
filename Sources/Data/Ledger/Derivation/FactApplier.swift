internal import AppStore
internal import Entitlements
internal import Store

/// Applies decoded evidence: stores facts, links, seats and consumption requests, and collects what changed.
///
/// Submissions, commands, time and replay all use it, so that the same evidence in the same order always
/// gives the same state. Applying an item twice changes nothing more. ``Derivation`` then brings the affected
/// customers up to date.
struct FactApplier {
  /// The evidence that is being applied.
  struct Source {
    let id: EvidenceID
    let appID: String
    let environment: Environment
    let receivedAt: Instant
    let knownAt: Instant
    /// The customer who submitted it, or the merge target of that one.
    let customer: CustomerKey?
    /// ``ChangeSet/newDocuments`` before this evidence.
    let newDocumentsBefore: Int

    var origin: ChangeOrigin { .document(id) }

    func line(_ id: String) -> LineKey {
      LineKey(appID: appID, environment: environment, lineID: id)
    }
  }

  let store: any StoreTransaction
  let catalog: Catalog
  /// The time of the write. Read inside it, so that writes are dated in the order in which they are committed: one that
  /// waited must not undo the changes that time made meanwhile.
  let now: Instant
  var changes = ChangeSet()
  var lines: LineCache

  init(_ store: any StoreTransaction, catalog: Catalog, now: Instant) {
    self.store = store
    self.catalog = catalog
    self.now = now
    lines = LineCache(store)
  }

  /// Applies the items of one piece of evidence in their order.
  mutating func apply(_ items: [DecodedItem], from evidence: StoredEvidence) throws(StoreError) {
    guard let source = try source(evidence) else {
      switch items.last {
      case .rejectedNotification(let reason)?: try recordRejection(of: evidence, reason)
      case .notification(let contents)?: try put(contents.record(of: evidence, state: .unsupported))
      default: break
      }
      return
    }
    for item in items {
      switch item {
      case .transaction(let fact): try applyTransaction(fact, from: source)
      case .renewal(let fact): try applyRenewal(fact, from: source)
      case .appTransaction(let fact): try applyAppTransaction(fact, from: source)
      case .command(let command):
        try run(command, as: source.id, of: source.appID, in: source.environment)
      case .endedSeatClaims(let claims, let endedAt):
        try releaseSeats(claimedAs: claims, at: endedAt ?? source.receivedAt, from: source)
      case .notification(let contents): try recordNotification(contents, evidence, from: source)
      case .rejectedNotification(let reason): try recordRejection(of: evidence, reason)
      }
    }
  }

  /// - Returns: `nil` for evidence without an environment, which holds no facts.
  private func source(_ stored: StoredEvidence) throws(StoreError) -> Source? {
    guard let environment = stored.evidence.environment else { return nil }
    let appID = stored.evidence.appID
    let customer = try stored.evidence.customerID.map { id throws(StoreError) in
      try store.finalMergeTarget(
        of: CustomerKey(appID: appID, environment: environment, customerID: id))
    }
    return Source(
      id: stored.id, appID: appID, environment: environment, receivedAt: stored.evidence.receivedAt,
      knownAt: stored.knownAt, customer: customer, newDocumentsBefore: changes.newDocuments)
  }

  /// Stores the record of a notification, after the documents inside were applied.
  private mutating func recordNotification(
    _ contents: NotificationContents, _ evidence: StoredEvidence, from source: Source
  ) throws(StoreError) {
    let hasNewEvidence = !contents.hasDocuments || changes.newDocuments > source.newDocumentsBefore
    let state: NotificationState =
      !contents.isSupported ? .unsupported : hasNewEvidence ? .applied : .superseded
    let record = contents.record(of: evidence, state: state)
    try put(record)
    if let request = contents.consumptionRequest(record, in: source.environment) {
      try open(request, isDated: record.signedDate != nil)
    }
    switch contents.payload.notificationType {
    case .refund, .refundDeclined:
      let decidedAt = contents.payload.signedDate ?? source.receivedAt
      let line = source.line(record.originalTransactionID)
      try settleConsumptionRequests(decidedAt: decidedAt, about: record.transactionID, of: line, source.id)
      try openConsumptionRequests(around: decidedAt, about: record.transactionID, of: line)
    case .rescindConsent:
      try recordRescindedConsent(
        contents.appTransaction, at: contents.payload.signedDate ?? source.receivedAt, from: source)
    case .externalPurchaseToken:
      try recordExternalToken(
        contents.payload.externalPurchaseToken, contents.payload.subtype,
        at: contents.payload.signedDate ?? source.receivedAt, from: source)
    default: break
    }
  }

  private mutating func recordRejection(of evidence: StoredEvidence, _ reason: String) throws(StoreError) {
    try put(
      NotificationRecord(
        evidenceID: evidence.id, appID: evidence.evidence.appID,
        environment: evidence.evidence.environment,
        version: evidence.evidence.kind == .notificationV1 ? 1 : 2, state: .rejected, reason: reason,
        receivedAt: evidence.evidence.receivedAt))
  }

  private mutating func put(_ record: NotificationRecord) throws(StoreError) {
    changes.notification = record
    try store.put(record)
  }
}
