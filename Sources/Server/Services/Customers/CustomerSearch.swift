internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// A search for customers by anything that a person may have at hand, in several apps and environments.
struct CustomerSearch: Sendable {
  let query: SearchQuery
  /// The apps that are searched.
  let apps: [String]
  /// `nil`: all environments.
  let environment: AppStore.Environment?
  let page: RequestedPage
  let limit: Int
  let catalog: Catalog
  let ledger: EvidenceLedger

  /// Finds the hits of the page, exact ones first.
  func run(_ reader: any StoreSnapshot) throws(StoreError) -> FindCustomersResponse {
    let start = SearchPosition(page.position)
    let isPastExact = start.customer != nil
    let skipped = isPastExact ? 0 : start.exactHits
    var found = Hits(search: self, exactLimit: skipped + limit + 1, reader: reader)
    if !isPastExact {
      try found.addCustomers()
      try found.addErasedCustomers()
      try found.addTokens()
      try found.addPurchases()
      try found.addCommandsAndEvents()
      try found.addAttributes()
    }
    let exact = found.hits.dropFirst(skipped)
    guard exact.count <= limit else {
      return response(exact, next: SearchPosition(exactHits: skipped + limit))
    }
    let customers = try found.addPrefixes(after: start.customer, limit: limit - exact.count + 1)
    let last = customers.dropLast().last ?? start.customer
    return response(
      found.hits.dropFirst(skipped),
      next: SearchPosition(exactHits: skipped + exact.count, customer: last))
  }

  /// `next` is the position after `limit` hits.
  private func response(_ hits: ArraySlice<CustomerHit>, next: SearchPosition) -> FindCustomersResponse {
    .with {
      $0.hits = Array(hits.prefix(limit))
      if hits.count > limit { $0.nextPageToken = page.token(after: next.description) }
    }
  }

  /// Whether the search covers an app and an environment.
  func includes(_ appID: String, _ environment: AppStore.Environment?) -> Bool {
    apps.contains(appID) && (self.environment == nil || self.environment == environment)
  }
}

/// The hits of one search.
private struct Hits {
  let search: CustomerSearch
  /// The number of exact hits that the page needs.
  let exactLimit: Int
  let reader: any StoreSnapshot
  private(set) var hits: [CustomerHit] = []

  init(search: CustomerSearch, exactLimit: Int, reader: any StoreSnapshot) {
    self.search = search
    self.exactLimit = exactLimit
    self.reader = reader
  }

  private var text: String { search.query.text }

  private mutating func add(
    _ kind: CustomerHitKind, _ appID: String, _ environment: AppStore.Environment?, _ explanation: String,
    _ build: (inout CustomerHit) -> Void = { _ in }
  ) {
    var hit = CustomerHit.with {
      $0.kind = kind
      $0.app = appID
      $0.environment = environment.map(Wire.Environment.init) ?? .unspecified
      build(&$0)
    }
    let place = [appID, environment?.rawValue].compactMap(\.self).joined(separator: ", ")
    hit.explanation = "\(text) \(explanation) (\(place))."
    hits.append(hit)
  }

  /// Adds a customer; of one that was merged, the target too.
  private mutating func addCustomer(
    _ customer: CustomerKey, _ kind: CustomerHitKind, _ explanation: String
  ) throws(StoreError) {
    let target = try reader.finalMergeTarget(of: customer)
    guard target != customer else {
      return add(kind, customer.appID, customer.environment, explanation) {
        $0.customerIds = [customer.customerID]
      }
    }
    let merged = kind == .customer ? CustomerHitKind.mergedCustomer : kind
    add(
      merged, customer.appID, customer.environment,
      "\(explanation), merged into \(target.customerID)"
    ) {
      $0.customerIds = [customer.customerID]
      $0.mergedIntoCustomerId = target.customerID
    }
  }

  /// Customers with exactly this id.
  mutating func addCustomers() throws(StoreError) {
    for appID in search.apps {
      for environment in AppStore.Environment.allCases where search.includes(appID, environment) {
        let customer = CustomerKey(appID: appID, environment: environment, customerID: text)
        if try reader.isKnown(customer) { try addCustomer(customer, .customer, "is a customer") }
      }
    }
  }

  mutating func addErasedCustomers() throws(StoreError) {
    for appID in search.apps {
      for environment in AppStore.Environment.allCases where search.includes(appID, environment) {
        let customer = CustomerKey(appID: appID, environment: environment, customerID: text)
        guard let pseudonym = try search.ledger.pseudonym(of: customer, in: reader) else { continue }
        add(.erasedCustomer, appID, environment, "was erased and is \(pseudonym)") {
          $0.customerIds = [pseudonym]
        }
      }
    }
  }

  mutating func addTokens() throws(StoreError) {
    let token = text.lowercased()
    for customer in try reader.customers(withToken: token)
    where search.includes(customer.appID, customer.environment) {
      try addCustomer(customer, .appAccountToken, "is an appAccountToken of \(customer.customerID)")
    }
    for line in try reader.unclaimedLines(withToken: token) where search.includes(line) {
      try addLine(line, .appAccountToken, "is the appAccountToken of the unclaimed purchase \(line.lineID)")
    }
  }

  /// Customers with this value of an attribute.
  mutating func addAttributes() throws(StoreError) {
    let isIncluded = { [search] (customer: CustomerKey) in
      search.includes(customer.appID, customer.environment)
    }
    var found = try reader.customers(
      withAttribute: nil, value: text, limit: exactLimit, where: isIncluded)
    if let attribute = search.query.attribute {
      found += try reader.customers(
        withAttribute: attribute.name, value: attribute.value, limit: exactLimit, where: isIncluded)
    }
    for (customer, name) in found {
      try addCustomer(customer, .attribute, "is the attribute \(name) of \(customer.customerID)")
    }
  }

  /// Adds at most `limit` customers whose id begins with the text, and returns them.
  mutating func addPrefixes(after last: CustomerKey?, limit: Int) throws(StoreError) -> [CustomerKey] {
    let found = try reader.customers(startingWith: text, after: last, limit: limit) { customer in
      customer.customerID != text && search.includes(customer.appID, customer.environment)
    }
    for customer in found {
      try addCustomer(customer, .customerPrefix, "begins the id of \(customer.customerID)")
    }
    return found
  }
}

// Purchases, grants and seats.
extension Hits {
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
  private mutating func addLine(
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
extension Hits {
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
      for owner in try reader.owners(of: line) where !customerIDs.contains(owner) {
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

extension CustomerSearch {
  fileprivate func includes(_ line: LineKey) -> Bool { includes(line.appID, line.environment) }
}
