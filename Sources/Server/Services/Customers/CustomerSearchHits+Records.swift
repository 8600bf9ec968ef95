internal import AppStore
internal import Bytes
internal import Entitlements
internal import Ledger
internal import Store
internal import Wire

// Purchases, grants and seats.
extension CustomerSearchHits {
  /// Adds purchases, grants and seats with this id, and the purchases of a transaction, web order line item or app
  /// install with this id.
  mutating func addPurchases() throws(StoreError) {
    for line in try reader.lines(withID: text) where search.includes(line) {
      try addLine(line, .purchase, "is a purchase")
    }
    for found in try reader.transactions(withID: text) where search.includes(found.line) {
      // The first transaction of a purchase has its id.
      guard found.line.lineID != text else { continue }
      try addLine(found.line, .transaction, "is a transaction", found.fact)
    }
    for found in try reader.transactions(withLineItem: text) where search.includes(found.line) {
      try addLine(found.line, .webOrderLineItem, "is a web order line item", found.fact)
    }
    for line in try reader.lines(withAppTransactionID: text) where search.includes(line) {
      try addLine(line, .appTransaction, "is an app transaction")
    }
    for line in try reader.grantsAndSeats(withID: text) where search.includes(line) {
      try addLine(line, line.isGrant ? .grant : .seat, line.isGrant ? "is a grant" : "is a seat")
    }
  }

  /// Adds a purchase, grant or seat with its owners. `transaction` is the one that was found, if the search was for
  /// one.
  mutating func addLine(
    _ line: LineKey, _ kind: CustomerHitKind, _ explanation: String, _ transaction: TransactionFact? = nil
  ) throws(StoreError) {
    let owners = try reader.owners(of: line)
    let latest = line.isPurchase ? try reader.facts(of: line).latestTransaction : nil
    let fact = transaction ?? latest
    let product = fact.map { " of \($0.productID)" } ?? ""
    let owner =
      owners.isEmpty ? (line.isPurchase ? ", unclaimed" : "") : ", of \(owners.joined(separator: ", "))"
    add(kind, line.appID, line.environment, "\(explanation)\(product)\(owner)") {
      $0.customerIds = owners
      $0.originalTransactionId = line.isPurchase ? line.lineID : ""
      $0.transactionId = transaction?.transactionID ?? ""
      $0.productId = fact?.productID ?? ""
    }
  }
}

// Commands, events, evidence and notifications.
extension CustomerSearchHits {
  /// Adds the transfer, notification, event and evidence that the text names. A bare number may be an event and a piece
  /// of evidence; both are hits.
  mutating func addCommandsAndEvents() throws(StoreError) {
    if let id = search.query.transferEvidenceID { try addEvidence(id, .transfer, "is a command") }
    for record in try reader.notifications(withUUID: text.lowercased())
    where search.includes(record.appID, record.environment) {
      let line = record.environment.map {
        LineKey(appID: record.appID, environment: $0, lineID: record.originalTransactionID)
      }
      let owners = try line.map { line throws(StoreError) in try reader.owners(of: line) } ?? []
      add(.notification, record.appID, record.environment, "is a notification, \(record.type)") {
        $0.customerIds = owners
        $0.originalTransactionId = record.originalTransactionID
        $0.transactionId = record.transactionID
        $0.productId = record.productID
        $0.evidenceId = record.evidenceID.rawValue
      }
    }
    if let sequence = search.query.sequence { try addEvent(sequence) }
    if let id = search.query.evidenceID { try addEvidence(id, .evidence, "is evidence") }
  }

  /// Adds the event with exactly this sequence. Each app has its own sequences, so several apps may have one.
  private mutating func addEvent(_ sequence: Int64) throws(StoreError) {
    for appID in search.apps {
      guard let stored = try reader.events(ofApp: appID, after: sequence - 1, limit: 1).first,
        stored.sequence == sequence, search.includes(appID, stored.event.customer.environment)
      else { continue }
      add(stored)
    }
  }

  private mutating func add(_ stored: StoredEvent) {
    let (customer, change) = (stored.event.customer, stored.event.change)
    add(
      .event, customer.appID, customer.environment,
      "is an event, \(change.kind.rawValue) of \(customer.customerID)"
    ) {
      $0.customerIds = [customer.customerID]
      $0.sequence = stored.sequence
      $0.evidenceId = stored.event.evidenceID?.rawValue
      $0.originalTransactionId = change.subject?.originalTransactionID ?? ""
      $0.transactionId = change.subject?.transactionID ?? ""
      $0.productId = change.subject?.productID ?? ""
    }
  }

  /// Adds evidence with the customers that it names and the owners of its purchases. For a transfer, only a command
  /// that moved purchases counts.
  private mutating func addEvidence(
    _ id: Int64, _ kind: CustomerHitKind, _ explanation: String
  ) throws(StoreError) {
    guard let stored = try reader.evidence(EvidenceID(rawValue: id)),
      search.includes(stored.evidence.appID, stored.evidence.environment)
    else { return }
    let subject = EvidenceSubject(stored.evidence)
    guard kind != .transfer || subject.command?.isTransfer == true else { return }
    var customerIDs = subject.customerIDs
    for lineID in subject.lineIDs {
      guard let environment = stored.evidence.environment else { break }
      let line = LineKey(appID: stored.evidence.appID, environment: environment, lineID: lineID)
      for owner in try reader.owners(of: line) where !customerIDs.containsID(owner) {
        customerIDs.append(owner)
      }
    }
    add(kind, stored.evidence.appID, stored.evidence.environment, "\(explanation), \(subject.word)") {
      $0.customerIds = customerIDs
      $0.originalTransactionId =
        subject.lineIDs.first { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } } ?? ""
      $0.evidenceId = id
    }
  }
}
