internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// A search for customers by anything that a person may have at hand, in several apps and environments.
struct CustomerSearch: Sendable {
  private(set) var query: SearchQuery
  /// The apps that are searched.
  let apps: [String]
  /// `nil`: all environments.
  let environment: AppStore.Environment?
  /// The page, whose position is a ``SearchPosition``.
  let page: RequestedPage
  /// The size of the page.
  let limit: Int
  let ledger: EvidenceLedger

  /// Finds the hits of the page: exact ones first, in a fixed order of their kinds, then customers whose id begins with
  /// the text. White space around the text is part of it if a customer has it so in the id or an attribute.
  ///
  /// The exact hits are found again for each of their pages, and those of earlier pages are skipped.
  func run(_ reader: any StoreSnapshot) throws(StoreError) -> FindCustomersResponse {
    if let exact = query.exact {
      var search = self
      search.query = exact
      if try search.findsCustomer(reader) { return try search.run(reader) }
    }
    let start = SearchPosition(page.position)
    let isPastExact = start.customer != nil
    let skipped = isPastExact ? 0 : start.exactHits
    var found = CustomerSearchHits(search: self, exactLimit: skipped + limit + 1, reader: reader)
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

  /// Whether the text is the id of a customer, also of an erased one, or the value of an attribute.
  private func findsCustomer(_ reader: any StoreSnapshot) throws(StoreError) -> Bool {
    var found = CustomerSearchHits(search: self, exactLimit: 1, reader: reader)
    try found.addCustomers()
    try found.addErasedCustomers()
    try found.addAttributes()
    return !found.hits.isEmpty
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

  /// Whether the search covers the app and the environment of a line.
  func includes(_ line: LineKey) -> Bool { includes(line.appID, line.environment) }
}

/// The hits of one search, collected in the order of the response. Each `add…` function searches one kind of records.
struct CustomerSearchHits {
  let search: CustomerSearch
  /// The number of exact hits that the page needs.
  let exactLimit: Int
  /// The snapshot, the same for all kinds.
  let reader: any StoreSnapshot
  private(set) var hits: [CustomerHit] = []

  /// The text to find.
  var text: String { search.query.text }

  /// Adds a hit. Its explanation is a sentence: the text, `explanation` as its predicate, and the app with the
  /// environment.
  mutating func add(
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
  mutating func addCustomer(
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

  /// Adds the customers with exactly this id.
  mutating func addCustomers() throws(StoreError) {
    for appID in search.apps {
      for environment in AppStore.Environment.allCases where search.includes(appID, environment) {
        let customer = CustomerKey(appID: appID, environment: environment, customerID: text)
        if try reader.isKnown(customer) { try addCustomer(customer, .customer, "is a customer") }
      }
    }
  }

  /// Adds the pseudonym of a customer who had this id and was erased. The ledger compares keyed hashes: the store does
  /// not have the id.
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

  /// Adds the customers that have bound this `appAccountToken`, and the unclaimed purchases that have it. Upper and
  /// lower case are the same in it.
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

  /// Adds the customers with an attribute of this value, and those with `NAME=VALUE`. Values must be equal in case.
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
