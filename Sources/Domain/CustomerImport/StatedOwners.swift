internal import AppStore
internal import Bytes

/// The customers of ids and purchases in the other system, by all events and lines together: they arrive in any order.
struct StatedOwners: Sendable {
  /// The customer of an id or a purchase in an event or a line.
  private struct Statement {
    let at: Instant
    /// Empty for a line.
    let eventID: String
    let customerID: String

    /// Whether it was stated later. The order of arrival must not decide between events of one time.
    func isLater(than other: Statement) -> Bool { (at, eventID) > (other.at, other.eventID) }

    /// Whether an id is that of its customer: of a named one rather than of one whose id RevenueCat made up, then of the
    /// one that was stated later.
    func decides(over other: Statement) -> Bool {
      let isNamed = !AccessStatements.isAnonymous(customerID)
      return isNamed == AccessStatements.isAnonymous(other.customerID) ? isNamed : isLater(than: other)
    }
  }

  /// A move of purchases to another customer, which earlier statements do not know.
  private struct Transfer {
    let from: Set<OpaqueID>
    let to: Statement
    /// The store whose purchases move; empty: all purchases.
    let store: String
  }

  private var customers: [OpaqueID: Statement] = [:]
  private var holders: [String: Statement] = [:]
  private var transfers: [Transfer] = []

  /// Adds the customer of an event.
  mutating func add(_ event: RevenueCatEvent, of customerID: String) {
    let statement = Statement(at: event.occurredAt, eventID: event.id, customerID: customerID)
    add(event.customerIDs, event.store, event.originalTransactionID, statement)
    if !event.formerCustomerIDs.isEmpty {
      transfers.append(
        Transfer(from: Set(event.formerCustomerIDs.map(OpaqueID.init)), to: statement, store: event.store))
    }
  }

  /// Adds the customer of a line.
  mutating func add(_ row: ImportRow, of customerID: String, at time: Instant) {
    add(
      row.aliases + [row.customerID], row.store, row.purchaseID,
      Statement(at: time, eventID: "", customerID: customerID))
  }

  private mutating func add(
    _ ids: [String], _ store: String, _ purchaseID: String, _ statement: Statement
  ) {
    for id in ids.map(OpaqueID.init) {
      if let known = customers[id], known.decides(over: statement) { continue }
      customers[id] = statement
    }
    // A promotional grant has no purchase that could move, so it stays with the customer of its event.
    guard !purchaseID.isEmpty, store != "promotional" else { return }
    Self.add(statement, as: "\(store) \(purchaseID)", to: &holders)
  }

  private static func add(
    _ statement: Statement, as key: String, to statements: inout [String: Statement]
  ) {
    if let known = statements[key], known.isLater(than: statement) { return }
    statements[key] = statement
  }

  /// Finishes the collection: sorts the transfers, and gives a purchase that lines name by a renewal its one name.
  func completed(names purchases: [String: String]) -> StatedOwners {
    var owners = self
    owners.transfers.sort { $1.to.isLater(than: $0.to) }
    for (renewal, purchase) in purchases where renewal != purchase {
      guard let statement = holders[renewal] else { continue }
      Self.add(statement, as: purchase, to: &owners.holders)
    }
    return owners
  }

  /// Finds the owner of a purchase. RevenueCat has one customer for each, so the latest statement about it makes those about
  /// other customers obsolete.
  ///
  /// - Parameters:
  ///   - purchase: the store and the id of the purchase.
  ///   - customerID: the customer of a statement about it.
  ///   - time: when that was stated.
  /// - Returns: the owner after the transfers that followed the latest statement.
  func owner(of purchase: String, statedAs customerID: String, at time: Instant) -> String {
    let (last, since) = holders[purchase].map { ($0.customerID, $0.at) } ?? (customerID, time)
    let store = purchase.prefix { $0 != " " }
    var owner = customer(of: last)
    var ids: Set = [OpaqueID(last), OpaqueID(owner)]
    for transfer in transfers
    where transfer.to.at >= since && !transfer.from.isDisjoint(with: ids)
      && (transfer.store.isEmpty || transfer.store == store)
    {
      owner = customer(of: transfer.to.customerID)
      ids = [OpaqueID(transfer.to.customerID), OpaqueID(owner)]
    }
    return owner
  }

  /// The customer of an id. Each statement leads to itself or to one that decides over it, because it names its customer
  /// too.
  private func customer(of id: String) -> String {
    var id = id
    while let statement = customers[OpaqueID(id)], !statement.customerID.hasSameBytes(as: id) {
      id = statement.customerID
    }
    return id
  }
}
