internal import AppStore
internal import Bytes
internal import Entitlements

/// Turns the rows of an export into a plan.
package struct ImportPlanner {
  /// The choice of the customer's id.
  package enum Identity: Hashable, Sendable {
    /// The column of the customer has it.
    case column
    /// RevenueCat: the id that the app used last and that is not anonymous, if the export of transactions states it,
    /// otherwise the id of the customer if it is not anonymous, otherwise an alias that is not.
    case named
  }

  /// The choices of the caller.
  package struct Options: Hashable, Sendable {
    /// How the id of a customer is chosen.
    package var identity = Identity.column
    /// Whether sandbox purchases are imported, and no others; `nil` imports lines of both.
    package var takesSandbox: Bool?
    /// The entitlements of the catalog; `nil` accepts all.
    package var knownEntitlements: Set<String>?
    /// The revision of states that the export does not number: a time at which they were right.
    package var defaultRevision: Int64 = 1
    /// Whether the customers' attributes are imported.
    package var includesAttributes = true

    package init() {}
  }

  /// RevenueCat's ids of customers who did not sign in begin so.
  static let anonymousPrefix = "$RCAnonymousID:"
  /// The stores of Apple.
  static let appleStores: Set<String> = ["app_store", "mac_app_store"]

  private let options: Options
  private let mapping: ColumnMapping
  private var groups: [OpaqueID: Group] = [:]
  private(set) var omissions: [ImportOmission] = []
  private var rowCount = 0

  /// Creates a planner that translates stores and entitlements by `mapping`.
  package init(_ options: Options, mapping: ColumnMapping) {
    self.options = options
    self.mapping = mapping
  }

  /// Everything that rows state about the customer with one id of the export.
  private struct Group {
    /// The id of the customer and its aliases, each once.
    private(set) var ids: [String]
    private var knownIDs: Set<OpaqueID>
    /// The last id that the app used and that is not anonymous.
    var lastSeen: String?
    var purchases: [String: RowOrder] = [:]
    var transactions: [String: RowOrder] = [:]
    var states: [PurchaseKey: ImportedPurchase] = [:]
    var attributes: [String: ImportedAttribute] = [:]
    /// The problems of attributes that are noted.
    var attributeProblems: Set<String> = []

    init(id: String) { (ids, knownIDs) = ([id], [OpaqueID(id)]) }

    mutating func add(alias: String) {
      if knownIDs.insert(OpaqueID(alias)).inserted { ids.append(alias) }
    }
  }

  /// Identifies a purchase in another store.
  private struct PurchaseKey: Hashable {
    let source: String
    let id: String
  }

  /// Adds a row, or notes why it is left out.
  package mutating func add(_ row: ImportRow) {
    rowCount += 1
    guard (1...256).contains(row.customerID.utf8.count) else {
      return omit(row, .noCustomer, "customer id with \(row.customerID.utf8.count) bytes")
    }
    if let takesSandbox = options.takesSandbox, let isSandbox = row.isSandbox, isSandbox != takesSandbox {
      return omit(row, .otherEnvironment, "\(row.store) \(row.purchaseID)")
    }
    // Without a second reference to the group in the dictionary, changes copy nothing of a customer with many rows.
    let key = OpaqueID(row.customerID)
    var group = groups.removeValue(forKey: key) ?? Group(id: row.customerID)
    for alias in row.aliases where (1...256).contains(alias.utf8.count) {
      if row.statesLastSeen, Self.isNamed(alias) { group.lastSeen = alias }
      group.add(alias: alias)
    }
    if options.includesAttributes { addAttributes(of: row, to: &group) }
    if !row.store.isEmpty { addPurchase(of: row, to: &group) }
    groups[key] = group
  }

  /// Adds something that could not be read.
  package mutating func add(_ omission: ImportOmission) {
    rowCount += 1
    omissions.append(omission)
  }

  /// Adds the attributes of a row. Of several values of one attribute, the one that was set last counts;
  /// one that is not allowed is noted once.
  private mutating func addAttributes(of row: ImportRow, to group: inout Group) {
    for column in row.unreadableAttributes { omit(row, .invalidAttribute, "\(column) is no JSON object") }
    for attribute in row.attributes where attribute != group.attributes[attribute.name] {
      guard attribute.isAllowed else {
        let problem = "attribute \(attribute.name) with a value of \(attribute.value.utf8.count) bytes"
        if group.attributeProblems.insert(problem).inserted { omit(row, .invalidAttribute, problem) }
        continue
      }
      let known = group.attributes[attribute.name]?.updatedAt ?? Instant(millisecondsSince1970: 0)
      if attribute.updatedAt ?? known >= known { group.attributes[attribute.name] = attribute }
    }
  }

  /// Adds Apple's purchase as an id, because Apple is queried about its state, and one of another store as
  /// a state with the entitlements that the catalog has.
  private mutating func addPurchase(of row: ImportRow, to group: inout Group) {
    let store = mapping.stores[row.store] ?? row.store
    if Self.appleStores.contains(store) {
      guard !row.purchaseID.isEmpty, row.purchaseID.utf8.count <= 64, row.purchaseID.isDigits else {
        return omit(row, .noPurchaseID, "original transaction id '\(row.purchaseID)'")
      }
      let path = row.namesAnyTransaction ? \Group.transactions : \.purchases
      let order = RowOrder(revision: row.revision ?? options.defaultRevision, row: rowCount)
      group[keyPath: path].merge([row.purchaseID: order], uniquingKeysWith: max)
      return
    }
    guard ExternalPurchase.isSource(store) else { return omit(row, .invalidStore, "store '\(store)'") }
    guard (1...200).contains(row.purchaseID.utf8.count) else {
      return omit(row, .noPurchaseID, "\(row.store) purchase '\(row.purchaseID)'")
    }
    if row.entitlements.isEmpty {
      omit(row, .noEntitlement, "\(row.store) \(row.purchaseID) \(row.productID)")
    }
    var state = row
    state.revision = row.revision ?? options.defaultRevision
    state.entitlements = []
    for name in row.entitlements.map({ mapping.entitlements[$0] ?? $0 }) {
      if options.knownEntitlements?.contains(name) ?? true {
        state.entitlements.append(name)
      } else {
        state.unknownEntitlements.append(name)
        omit(row, .unknownEntitlement, "\(name) of \(row.store) \(row.purchaseID)")
      }
    }
    let key = PurchaseKey(source: store, id: row.purchaseID)
    group.states[key] = ImportedPurchase(source: store, adding: state, to: group.states[key])
  }

  private mutating func omit(_ row: ImportRow, _ reason: ImportOmission.Reason, _ detail: String) {
    var omission = ImportOmission(line: row.line, reason, customerID: row.customerID, detail: detail)
    omission.file = row.file
    omissions.append(omission)
  }

  /// The plan of all rows.
  package func plan() -> ImportPlan {
    var (customers, omissions): ([OpaqueID: ImportedCustomer], [ImportOmission]) = ([:], omissions)
    let ordered = groups.sorted { Self.isOrdered($0.key.text, $1.key.text) }.map(\.value)
    for group in ordered {
      let id = self.id(of: group)
      var customer = customers.removeValue(forKey: OpaqueID(id)) ?? ImportedCustomer(id: id)
      customer.aliases += group.ids
      customer.purchases.merge(group.purchases, uniquingKeysWith: max)
      customer.transactions.merge(group.transactions, uniquingKeysWith: max)
      for attribute in group.attributes.values.sorted(by: { $0.name < $1.name }) { customer.set(attribute) }
      customer.externalPurchases += group.states.values
        .sorted { ($0.source, $0.id) < ($1.source, $1.id) }
      customers[OpaqueID(id)] = customer
    }
    var owners: [OpaqueID: String] = [:]
    var plan = ImportPlan()
    plan.rowCount = rowCount
    for var customer in customers.values.sorted(by: { Self.isOrdered($0.id, $1.id) }) {
      customer.joinTransactions()
      customer.aliases = ([customer.id] + customer.aliases).distinctIDs.dropFirst().filter { alias in
        let key = OpaqueID(alias)
        let owner = customers[key]?.id ?? owners[key]
        if let owner {
          omissions.append(
            ImportOmission(
              line: nil, .aliasOfAnotherCustomer, customerID: customer.id,
              detail: "alias \(alias) belongs to \(owner)"))
        }
        owners[key] = customer.id
        return owner == nil
      }
      customer.grants = customer.externalPurchases.flatMap {
        $0.grants(after: [], at: Instant(millisecondsSince1970: 0))
      }
      while customer.attributes.count > CustomerAttributeRules.maxCount {
        let last = customer.attributes.removeLast()
        omissions.append(
          ImportOmission(
            line: nil, .invalidAttribute, customerID: customer.id,
            detail: "attribute \(last.name): a customer has at most \(CustomerAttributeRules.maxCount)"))
      }
      plan.customers.append(customer)
    }
    plan.omissions = omissions
    return plan
  }

  /// The id here of the customer that a group is about.
  private func id(of group: Group) -> String {
    switch options.identity {
    case .column: group.ids[0]
    case .named: group.lastSeen ?? group.ids.first(where: Self.isNamed) ?? group.ids[0]
    }
  }

  /// The order of ids by their bytes, so that it never depends on the order of the dictionaries.
  private static func isOrdered(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private static func isNamed(_ id: String) -> Bool { !id.hasPrefix(anonymousPrefix) }
}

extension String {
  fileprivate var isDigits: Bool { utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
