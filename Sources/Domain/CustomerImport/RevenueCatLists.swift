package import AppStore
internal import Bytes
internal import JSON

/// The lists of RevenueCat's REST API v2: customers with aliases, attributes, active entitlements, subscriptions and
/// purchases, nested in each other or one after the other as the API returns them.
package struct RevenueCatLists {
  /// One for each customer, alias, attribute, subscription and purchase, in the order of the documents.
  package private(set) var rows: [ImportRow] = []
  /// The items of unknown types, and the access that RevenueCat reports although the lists do not explain it. Lists
  /// without their last page are not among them, because another document can have it: see ``unfinished(_:)``.
  package private(set) var omissions: [ImportOmission] = []

  /// The active entitlements by customer, and those that purchases grant, by the ids and the names of RevenueCat.
  private var active: [OpaqueID: [ActiveEntitlement]] = [:]
  private var granted: [OpaqueID: Set<String>] = [:]
  /// The rows that give access after the end of their period, with the ids and names of their entitlements.
  private var prolonged: [(row: Int, entitlements: Set<String>)] = []
  private var pages = ListPages()
  private let now: Instant

  /// An entitlement that RevenueCat reports as active for a customer.
  private struct ActiveEntitlement {
    let id: String
    /// `nil`: it does not end.
    let expiresAt: Instant?
  }

  /// Reads a JSON document, or several, one on each line.
  ///
  /// - Parameters:
  ///   - text: the JSON.
  ///   - now: the time at which the lists were fetched.
  /// - Throws: ``ImportError/malformed(_:)`` for a text that is no JSON.
  package init(_ text: [UInt8], now: Instant) throws(ImportError) {
    self.now = now
    for document in try Self.documents(text) { read(document, customer: "") }
    for (customer, entitlements) in active.sorted(by: { $0.key.text < $1.key.text }) {
      for entitlement in entitlements where !(granted[customer] ?? []).contains(entitlement.id) {
        omit(.entitlementWithoutPurchase, customer.text, "active entitlement \(entitlement.id)")
      }
    }
    for (index, entitlements) in prolonged { prolong(index, entitlements) }
  }

  /// The lists of `all` whose last page is in none of them.
  package static func unfinished(_ all: [RevenueCatLists]) -> [ImportOmission] {
    all.reduce(into: ListPages()) { $0.formUnion($1.pages) }.unfinished.map { list, customer in
      ImportOmission(
        line: nil, .incompleteList, customerID: customer, detail: "the next page of \(list) is missing")
    }
  }

  /// Sets the end of access in a grace period, which only the active entitlements have.
  private mutating func prolong(_ index: Int, _ entitlements: Set<String>) {
    let row = rows[index]
    let ends = (active[OpaqueID(row.customerID)] ?? []).filter { entitlements.contains($0.id) }.compactMap(
      \.expiresAt)
    if let end = ends.max(), end > now {
      rows[index].until = end
    } else {
      omit(
        .entitlementWithoutPurchase, row.customerID,
        "access after the end of \(row.store) \(row.purchaseID), without the active entitlement that has its end"
      )
    }
  }

  /// Reads one JSON document, or one in each line that is not blank.
  private static func documents(_ text: [UInt8]) throws(ImportError) -> [JSONValue] {
    if let document = try? JSONValue(parsing: text) { return [document] }
    var documents: [JSONValue] = []
    for (number, line) in text.split(separator: 0x0A).enumerated() where line.contains(where: { $0 > 0x20 }) {
      do throws(JSONError) { documents.append(try JSONValue(parsing: Array(line))) } catch {
        throw .malformed("line \(number + 1): \(error.description)")
      }
    }
    return documents
  }

  /// Reads a document by its type (`object`). Lists contain further documents, which belong to the customer
  /// of the list.
  private mutating func read(_ value: JSONValue, customer: String) {
    if let items = value.arrayValue { return items.forEach { read($0, customer: customer) } }
    guard let item = value.objectValue else {
      return omit(.unknownItem, customer, "\(value.kind), not an object")
    }
    switch item["object"]?.stringValue {
    case "list":
      let owner = customer.isEmpty ? Self.customer(ofURL: item["url"]?.stringValue ?? "") : customer
      pages.add(item, of: owner)
      (item["items"]?.arrayValue ?? []).forEach { read($0, customer: owner) }
    case "customer": readCustomer(item)
    case "customer.alias", "alias":
      var row = self.row(item, customer)
      row.aliases = [item["id"]?.stringValue ?? ""]
      rows.append(row)
    case "customer.attribute", "attribute":
      var row = self.row(item, customer)
      row.attributes = Self.attribute(item).map { [$0] } ?? []
      rows.append(row)
    case "customer.active_entitlement", "active_entitlement":
      active[OpaqueID(customer), default: []].append(
        ActiveEntitlement(
          id: item["entitlement_id"]?.stringValue ?? "", expiresAt: Self.time(item["expires_at"])))
    case "subscription": readSubscription(item, customer)
    case "purchase": readPurchase(item, customer)
    case let other: omit(.unknownItem, customer, "object \(other ?? "without a type")")
    }
  }

  /// Reads a customer and the lists that its document contains.
  private mutating func readCustomer(_ item: JSONObject) {
    let id = item["id"]?.stringValue ?? ""
    var row = ImportRow()
    row.customerID = id
    rows.append(row)
    for name in ["aliases", "attributes", "subscriptions", "purchases", "active_entitlements"] {
      if let list = item[name], !list.isNull { read(list, customer: id) }
    }
  }

  /// Reads a subscription. RevenueCat states whether it grants access, which can differ from its dates:
  /// after a refund access ended early, and in a grace period it continues.
  private mutating func readSubscription(_ item: JSONObject, _ customer: String) {
    var row = purchase(item, "store_subscription_identifier", customer)
    row.since = Self.time(item["starts_at"])
    row.period = Self.time(item["current_period_starts_at"])
    row.until = Self.time(item["ends_at"]) ?? Self.time(item["current_period_ends_at"])
    let givesAccess = item["gives_access"]?.boolValue
    if givesAccess == false, (row.until ?? now) >= now {
      // It was refunded or paused: access ended at an unknown time of the current period.
      row.until = row.period ?? row.since
    }
    if givesAccess == true, let until = row.until, until <= now,
      !ImportPlanner.appleStores.contains(row.store)
    {
      prolonged.append((rows.count, Set(Self.entitlements(of: item).joined())))
    }
    rows.append(row)
  }

  private mutating func readPurchase(_ item: JSONObject, _ customer: String) {
    var row = purchase(item, "store_purchase_identifier", customer)
    row.since = Self.time(item["purchased_at"])
    if item["status"]?.stringValue == "refunded" { row.refundedAt = row.since }
    rows.append(row)
  }

  /// Returns the row of a subscription or a one-time purchase, whose id in the store has the member
  /// `idName`.
  private mutating func purchase(_ item: JSONObject, _ idName: String, _ customer: String) -> ImportRow {
    var row = self.row(item, customer)
    row.store = item["store"]?.stringValue ?? "unknown"
    row.purchaseID = Self.withoutRenewal(item[idName]?.stringValue ?? "", row.store)
    row.namesAnyTransaction = true
    if row.purchaseID.isEmpty, !ImportPlanner.appleStores.contains(row.store) {
      // Promotional access is in no store.
      row.purchaseID = item["id"]?.stringValue ?? ""
    }
    row.productID = item["product_id"]?.stringValue ?? ""
    row.isSandbox = item["environment"]?.stringValue.map { $0 == "sandbox" }
    if let list = item["entitlements"]?.objectValue { pages.add(list, of: row.customerID) }
    // An ended purchase does not explain access that RevenueCat reports now.
    let hasEnded = item["gives_access"]?.boolValue == false || item["status"]?.stringValue == "refunded"
    for names in Self.entitlements(of: item) {
      if !hasEnded { granted[OpaqueID(row.customerID), default: []].formUnion(names) }
      if let name = names.first { row.entitlements.append(name) }
    }
    return row
  }

  private func row(_ item: JSONObject, _ customer: String) -> ImportRow {
    var row = ImportRow()
    row.customerID = customer.isEmpty ? item["customer_id"]?.stringValue ?? "" : customer
    return row
  }

  private mutating func omit(_ reason: ImportOmission.Reason, _ customer: String, _ detail: String) {
    omissions.append(ImportOmission(line: nil, reason, customerID: customer, detail: detail))
  }
}

extension RevenueCatLists {
  /// The entitlements of a subscription or purchase, each by its name and its id, as far as the item has them.
  private static func entitlements(of item: JSONObject) -> [[String]] {
    (item["entitlements"]?.objectValue?["items"]?.arrayValue ?? []).map { entitlement in
      ["lookup_key", "id"].compactMap { entitlement.objectValue?[$0]?.stringValue }
    }
  }

  /// The customer of a list such as `/v2/projects/proj1/customers/ann/aliases`.
  private static func customer(ofURL url: String) -> String {
    let parts = url.split(separator: "/").map(String.init)
    guard let index = parts.firstIndex(of: "customers"), index + 2 < parts.count,
      PercentEncoding.isUTF8(parts[index + 1].utf8)
    else { return "" }
    return PercentEncoding.decode(parts[index + 1])
  }

  /// Google Play's order id without the number of its renewal: `GPA.1-2-3-4..5` is one of `GPA.1-2-3-4`.
  private static func withoutRenewal(_ id: String, _ store: String) -> String {
    guard store == "play_store", let dots = id.firstRange(of: "..") else { return id }
    return String(id[..<dots.lowerBound])
  }

  private static func time(_ value: JSONValue?) -> Instant? {
    value?.int64Value.map(Instant.init(millisecondsSince1970:))
      ?? value?.stringValue.flatMap(ImportTime.parse)
  }

  private static func attribute(_ item: JSONObject) -> ImportedAttribute? {
    guard let name = item["name"]?.stringValue, let value = item["value"]?.stringValue, !value.isEmpty else {
      return nil
    }
    return ImportedAttribute(
      name: ImportedAttribute.localName(of: name), value: value, updatedAt: time(item["updated_at"]))
  }
}
