package import AppStore
package import Bytes

/// The plan of an import: one entry for each customer, and everything that it leaves out.
package struct ImportPlan: Hashable, Sendable {
  /// The customers by id.
  package var customers: [ImportedCustomer] = []
  /// The lines and items that are left out, in the order in which they were found.
  package var omissions: [ImportOmission] = []
  /// The number of lines or items that were read.
  package var rowCount = 0

  /// Adapts the grants to those that the service stores at the time of the import, `now`.
  package mutating func adapt(to stored: StoredGrants, at now: Instant) {
    for index in customers.indices {
      customers[index].grants = customers[index].externalPurchases.flatMap {
        $0.grants(after: stored.grants(ofPurchase: $0.id, in: $0.source), at: now)
      }
    }
  }

  /// Leaves each App Store purchase to the customer of its latest row, and lists the others: a purchase that moved in
  /// the other system has rows of both customers.
  package mutating func settleOwners() {
    var owners: [String: (customer: String, order: RowOrder)] = [:]
    for customer in customers {
      for (purchase, order) in customer.purchases where owners[purchase].map({ $0.order < order }) ?? true {
        owners[purchase] = (customer.id, order)
      }
    }
    for index in customers.indices {
      let id = customers[index].id
      for purchase in customers[index].purchases.keys.sorted() {
        guard let owner = owners[purchase]?.customer, !owner.hasSameBytes(as: id) else { continue }
        customers[index].purchases[purchase] = nil
        omissions.append(
          ImportOmission(
            line: nil, .purchaseOfAnotherCustomer, customerID: id,
            detail: "a later row names \(owner) for the App Store purchase \(purchase)"))
      }
    }
  }

  /// Keeps the ids of customers if an earlier import merged another id into them: the id that the app used last may be another
  /// one in each export.
  ///
  /// - Parameter targets: the merge targets of aliases.
  package mutating func keepCustomers(mergedInto targets: [OpaqueID: String]) {
    let ids = Set(customers.map { OpaqueID($0.id) })
    for index in customers.indices {
      let merged = customers[index].aliases.compactMap { targets[OpaqueID($0)] }
      let target = merged.first {
        !$0.hasPrefix(ImportPlanner.anonymousPrefix) && !ids.contains(OpaqueID($0))
      }
      if let target, !merged.containsID(customers[index].id) { customers[index].rename(target) }
    }
  }

  /// The stores of the purchases that are no App Store purchases.
  package var sources: Set<String> { Set(customers.flatMap { $0.externalPurchases.map(\.source) }) }
}

/// A customer of an import.
package struct ImportedCustomer: Hashable, Sendable {
  /// The id of the customer here.
  package private(set) var id: String
  /// Other ids, which are merged into ``id``.
  package var aliases: [String] = []
  /// Apple's original transaction ids, each with its latest row.
  package var purchases: [String: RowOrder] = [:]
  /// Apple's ids of transactions whose purchases are not known: lists of RevenueCat's API name any of a purchase.
  package var transactions: [String: RowOrder] = [:]
  /// At most one of each name.
  package var attributes: [ImportedAttribute] = []
  /// Purchases in other stores.
  var externalPurchases: [ImportedPurchase] = []
  /// The grants that the import reports for ``externalPurchases``.
  package var grants: [ImportedGrant] = []

  package init(id: String) { self.id = id }

  /// Makes `target` the id, and the id before it an alias.
  fileprivate mutating func rename(_ target: String) {
    aliases = ([id] + aliases).filter { !$0.hasSameBytes(as: target) }
    id = target
  }

  /// Makes each transaction with the id of a purchase a part of the purchase.
  mutating func joinTransactions() {
    for (id, order) in transactions {
      guard let known = purchases[id] else { continue }
      purchases[id] = max(known, order)
      transactions[id] = nil
    }
  }

  /// Adds an attribute; of two values, the later one counts.
  mutating func set(_ attribute: ImportedAttribute) {
    guard let index = attributes.firstIndex(where: { $0.name == attribute.name }) else {
      return attributes.append(attribute)
    }
    if let known = attributes[index].updatedAt, let new = attribute.updatedAt, new < known { return }
    attributes[index] = attribute
  }
}

/// The order of the rows about one purchase, whose last one counts.
package struct RowOrder: Hashable, Sendable, Comparable {
  /// The number of the state; a greater one is later.
  let revision: Int64
  /// The number of the row, which decides between equal revisions.
  let row: Int

  package static func < (one: RowOrder, other: RowOrder) -> Bool {
    (one.revision, one.row) < (other.revision, other.row)
  }
}

/// A purchase in another store, or access without one, as a grant with a source.
package struct ImportedGrant: Hashable, Sendable {
  /// The store, such as `play`.
  package let source: String
  /// Identifies the grant among those of ``source``.
  package let externalID: String
  /// The name of the catalog, to which the mapping translates that of the export.
  package let entitlement: String
  /// The product id in ``source``.
  package let productID: String
  /// Orders the reports about one purchase: a greater revision replaces a smaller one.
  package let revision: Int64
  /// The start of access; `nil`: that of the stored state, or the time of the import.
  package let since: Instant?
  /// `nil`: no expiry.
  package let until: Instant?
  /// `nil` unless the purchase was refunded.
  package let refundedAt: Instant?
  /// The start of the period that decides; `nil` if it is not known.
  package let period: Instant?
}

/// Something that an import leaves out, and why.
package struct ImportOmission: Error, Hashable, Sendable {
  /// The reasons, with their codes.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The line has another number of columns than the header, or a value of another form.
    case malformedLine = "MALFORMED_LINE"
    /// There is no customer id, or one of more than 256 bytes.
    case noCustomer = "NO_CUSTOMER"
    /// The purchase belongs to another environment than the one of the import.
    case otherEnvironment = "OTHER_ENVIRONMENT"
    /// The store's id of the purchase is missing or malformed.
    case noPurchaseID = "NO_PURCHASE_ID"
    /// The name of the store cannot be a source of grants.
    case invalidStore = "INVALID_STORE"
    /// The purchase grants no entitlement, such as a consumable.
    case noEntitlement = "NO_ENTITLEMENT"
    /// The catalog has no such entitlement.
    case unknownEntitlement = "UNKNOWN_ENTITLEMENT"
    /// The name or value of the attribute is too long or has other characters than names may have.
    case invalidAttribute = "INVALID_ATTRIBUTE"
    /// Another customer has the alias as its id, too.
    case aliasOfAnotherCustomer = "ALIAS_OF_ANOTHER_CUSTOMER"
    /// A later row names another customer for the App Store purchase.
    case purchaseOfAnotherCustomer = "PURCHASE_OF_ANOTHER_CUSTOMER"
    /// RevenueCat reports access, and no purchase of the export grants it now.
    case entitlementWithoutPurchase = "ENTITLEMENT_WITHOUT_PURCHASE"
    /// The list has more pages than the files.
    case incompleteList = "INCOMPLETE_LIST"
    /// The item has a type that imports do not have.
    case unknownItem = "UNKNOWN_ITEM"
    /// The service refused it; the detail begins with its reason.
    case refused = "REFUSED"

    /// Whether an export usually has such lines, so that they are no failure.
    package var isExpected: Bool {
      [.otherEnvironment, .noEntitlement, .purchaseOfAnotherCustomer].contains(self)
    }
  }

  /// The path of the file; empty if it is of none, or of several.
  package var file = ""
  /// The line in the file, from 1; `nil` if it has none.
  package let line: Int?
  package let reason: Reason
  /// Empty if it is not known.
  package let customerID: String
  /// The row or value that was left out, and the problem.
  package let detail: String

  package init(line: Int?, _ reason: Reason, customerID: String = "", detail: String) {
    self.line = line
    self.reason = reason
    self.customerID = customerID
    self.detail = detail
  }
}

/// The reason an export cannot be read.
package enum ImportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The table has no column with the customer.
  case noColumn(String, found: [String])
  /// The document is no JSON of the expected form.
  case malformed(String)

  package var description: String {
    switch self {
    case .noColumn(let wanted, let found):
      found.isEmpty
        ? "the file is empty; expected a header with the column \(wanted)"
        : "the header has no column \(wanted), but \(Self.list(of: found))"
    case .malformed(let problem): "malformed document: \(problem)"
    }
  }

  /// The names of columns, without an end if a file that is no table has one of any length.
  private static func list(of names: [String]) -> String {
    let list = names.joined(separator: ", ")
    return list.count > 500 ? list.prefix(500) + "…" : list
  }
}
