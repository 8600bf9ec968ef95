package import AppStore
internal import Bytes
package import JSON

/// Another system's statement about a customer's access to an entitlement through one purchase.
package struct AccessStatement: Hashable, Sendable {
  package fileprivate(set) var customerID: String
  /// The name of the entitlement here.
  package let entitlement: String
  /// The purchase in its store; statements about the same one replace each other.
  package fileprivate(set) var purchase: String
  /// The start of the period that a line of a table is about; `nil`: the statement is about the whole purchase.
  package let period: Instant?
  /// When the other system stated it.
  package let statedAt: Instant
  /// When access ends or ended; `nil`: it does not end.
  package let until: Instant?
  /// The event or line that states it, such as `RENEWAL e1` or `export.csv line 7`.
  package let origin: String
  /// The id of the event; empty for a line of a table.
  package let eventID: String
  /// The event; `nil` for a line of a table, or if it was not added.
  package let document: JSONValue?

  /// The end in milliseconds since 1970, for comparisons.
  fileprivate var end: Int64 { until?.millisecondsSince1970 ?? .max }

  /// Whether it was stated later. The order of arrival must not decide between events of one time.
  fileprivate func isLater(than other: AccessStatement) -> Bool {
    (statedAt, eventID) > (other.statedAt, other.eventID)
  }
}

/// The statements of another system. The latest one about each purchase counts.
package struct AccessStatements: Sendable {
  /// The subject of a statement. Of two statements with one key, the later one counts.
  private struct Key: Hashable {
    let customerID: OpaqueID
    let entitlement: String
    let purchase: String
    let period: Instant?
  }

  private let names: [String: String]
  private var latest: [Key: AccessStatement] = [:]
  /// The customers of ids and purchases.
  private var owners = StatedOwners()
  /// The last event about each purchase that states access, and its entitlements: the purchase grants no others since.
  private var granting: [String: (event: AccessStatement, entitlements: Set<String>)] = [:]
  /// The purchases of transactions, from events that name both: an item of a list may name its purchase by any of them.
  private var purchases: [String: String] = [:]
  /// The number of events that state no access themselves, such as `TEST` and `TRANSFER`.
  package private(set) var silentEvents = 0

  /// Creates an empty collection.
  ///
  /// - Parameter names: the names of entitlements here, by their names in the other system.
  package init(entitlementNames names: [String: String]) { self.names = names }

  /// Adds an event of a webhook, with its body if ``AccessStatement/document`` needs it.
  package mutating func add(_ event: RevenueCatEvent, _ document: JSONValue? = nil) {
    let customer = event.customerID
    if let customer { owners.add(event, of: customer) }
    if !event.transactionID.isEmpty, let purchase = event.purchase {
      purchases["\(event.store) \(event.transactionID)"] = purchase
    }
    guard let access = event.access, let customer else {
      silentEvents += 1
      return
    }
    let until: Instant? =
      switch access {
      case .until(let end): end
      case .ended(let end): end
      }
    let entitlements = event.entitlements.map { names[$0] ?? $0 }
    let statements = entitlements.map { entitlement in
      AccessStatement(
        customerID: customer, entitlement: entitlement,
        purchase: "\(event.store) \(event.originalTransactionID)",
        period: nil, statedAt: event.occurredAt, until: until, origin: "\(event.type) \(event.id)",
        eventID: event.id, document: document)
    }
    for statement in statements { add(statement) }
    guard case .until = access, !event.originalTransactionID.isEmpty, let first = statements.first else {
      return
    }
    if let known = granting[first.purchase], known.event.isLater(than: first) { return }
    granting[first.purchase] = (first, Set(entitlements))
  }

  /// Adds a row of an export. Its time is that in the row, or `knownAt` if the row has none.
  package mutating func add(_ row: ImportRow, knownAt: Instant) {
    // The alias was used last.
    guard let customer = Self.id(of: row.aliases + [row.customerID]) else { return }
    let end = [row.until, row.refundedAt].compactMap { $0 }.min()
    let purchase = "\(row.store) \(row.purchaseID)"
    let statedAt = row.revision.map(Instant.init(millisecondsSince1970:)) ?? knownAt
    owners.add(row, of: customer, at: statedAt)
    for entitlement in row.entitlements {
      add(
        AccessStatement(
          customerID: customer, entitlement: names[entitlement] ?? entitlement,
          purchase: purchase, period: row.since, statedAt: statedAt, until: end,
          origin: row.line.map { row.file.isEmpty ? "line \($0)" : "\(row.file) line \($0)" } ?? purchase,
          eventID: "", document: nil))
    }
  }

  private mutating func add(_ statement: AccessStatement) { Self.add(statement, to: &latest) }

  private static func add(_ statement: AccessStatement, to latest: inout [Key: AccessStatement]) {
    let key = Key(
      customerID: OpaqueID(statement.customerID), entitlement: statement.entitlement,
      purchase: statement.purchase, period: statement.period)
    if let known = latest[key], known.isLater(than: statement) { return }
    latest[key] = statement
  }

  /// The customer's id: the first that is not anonymous, otherwise the first.
  static func id(of ids: [String]) -> String? {
    let ids = ids.filter { (1...256).contains($0.utf8.count) }
    return ids.first { !isAnonymous($0) } ?? ids.first
  }

  /// Whether RevenueCat made the id up.
  package static func isAnonymous(_ id: String) -> Bool { id.hasPrefix(ImportPlanner.anonymousPrefix) }

  /// The access of each customer to each entitlement, ordered by both.
  package var access: [StatedAccess] {
    let owners = owners.completed(names: purchases)
    var owned: [Key: AccessStatement] = [:]
    let ordered = latest.values.sorted {
      ($0.statedAt, $0.eventID, $0.origin) < ($1.statedAt, $1.eventID, $1.origin)
    }
    for var statement in ordered {
      statement.purchase = purchases[statement.purchase] ?? statement.purchase
      statement.customerID = owners.owner(
        of: statement.purchase, statedAs: statement.customerID, at: statement.statedAt)
      Self.add(replaced(statement), to: &owned)
    }
    let groups = Dictionary(grouping: owned.values) { [OpaqueID($0.customerID), OpaqueID($0.entitlement)] }
    let named = groups.map { ($0.key.map(\.text), $0.value) }
    return named.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map { key, statements in
      StatedAccess(
        customerID: key[0], entitlement: key[1],
        statements: Self.current(statements).sorted(by: StatedAccess.order))
    }
  }

  /// The end of access if the purchase was renewed without the entitlement since, such as by an upgrade; otherwise the
  /// statement itself.
  private func replaced(_ statement: AccessStatement) -> AccessStatement {
    guard !statement.eventID.isEmpty, let later = granting[statement.purchase],
      later.event.statedAt > statement.statedAt, !later.entitlements.contains(statement.entitlement),
      statement.end > later.event.statedAt.millisecondsSince1970
    else { return statement }
    return AccessStatement(
      customerID: statement.customerID, entitlement: statement.entitlement, purchase: statement.purchase,
      period: nil, statedAt: later.event.statedAt, until: later.event.statedAt, origin: later.event.origin,
      eventID: later.event.eventID, document: later.event.document)
  }

  /// The statements without those that a later one about the same purchase replaces: an event all lines of the table, and
  /// a line that was changed after the event the event.
  private static func current(_ statements: [AccessStatement]) -> [AccessStatement] {
    Dictionary(grouping: statements, by: \.purchase).values.flatMap { statements in
      let lines = statements.filter { $0.eventID.isEmpty }
      guard let event = statements.first(where: { !$0.eventID.isEmpty }), !lines.isEmpty else {
        return statements
      }
      return lines.contains { $0.statedAt >= event.statedAt } ? lines : [event]
    }
  }
}

/// Another system's statement about a customer's access to an entitlement through all purchases.
package struct StatedAccess: Hashable, Sendable {
  /// The owner of the purchases, after the transfers that were reported since the statements.
  package let customerID: String
  package let entitlement: String
  /// At least one, the latest last.
  package let statements: [AccessStatement]

  /// Joins what is stated about ids of one customer here, ordered by entitlement. The id is that of the latest statement.
  package static func joined(_ parts: [StatedAccess]) -> [StatedAccess] {
    let groups = Dictionary(grouping: parts, by: \.entitlement).sorted { $0.key < $1.key }
    return groups.compactMap { entitlement, parts in
      let statements = parts.flatMap(\.statements).sorted(by: Self.order)
      return statements.last.map {
        StatedAccess(customerID: $0.customerID, entitlement: entitlement, statements: statements)
      }
    }
  }

  /// The order of ``statements``.
  fileprivate static func order(_ left: AccessStatement, _ right: AccessStatement) -> Bool {
    (left.statedAt, left.purchase) < (right.statedAt, right.purchase)
  }

  /// The statement whose access ends last.
  package var deciding: AccessStatement? {
    statements.max { $0.end < $1.end }
  }
}
