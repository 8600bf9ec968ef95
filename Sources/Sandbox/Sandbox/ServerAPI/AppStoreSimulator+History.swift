internal import AppStore
internal import HTTP
internal import JSON
internal import SignedData

/// Get All Subscription Statuses, the histories, and lookups.
extension AppStoreSimulator {
  /// Handles Get All Subscription Statuses, by subscription group. `status` filters by Apple's codes.
  func statuses(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    let account = try account(id, call)
    let wanted = call.query.all("status")
    guard wanted.allSatisfy({ Int64($0).map { (1...5).contains($0) } ?? false }) else {
      throw ServerAPIError.invalidStatus
    }
    var groups: [(group: String, lines: [JSONValue])] = []
    for line in world.subscriptions(of: account, in: call.app.id) {
      guard wanted.isEmpty || wanted.contains(String(line.appleStatus.rawValue)),
        let sold = world.latestTransaction(of: line)
      else { continue }
      let entry: JSONValue = [
        "originalTransactionId": .string(String(line.id)), "status": JSONValue(line.appleStatus.rawValue),
        "signedTransactionInfo": .string(try sign(sold)), "signedRenewalInfo": .string(try sign(line)),
      ]
      if let index = groups.firstIndex(where: { $0.group == line.group }) {
        groups[index].lines.append(entry)
      } else {
        groups.append((line.group, [entry]))
      }
    }
    var response = envelope(call)
    response["data"] = .array(
      groups.map {
        ["subscriptionGroupIdentifier": .string($0.group), "lastTransactions": .array($0.lines)]
      })
    return response
  }

  /// The environment and app members of most responses. `appAppleId` exists only in Production (Apple: StatusResponse,
  /// HistoryResponse).
  private func envelope(_ call: ServerAPICall) -> JSONObject {
    JSONObject(present: [
      ("environment", .string(Environment.sandbox.rawValue)),
      ("bundleId", .string(call.app.identity.bundleID)),
    ])
  }

  /// Handles Get Transaction History, versions 1 and 2.
  ///
  /// Transactions are sorted by modification, so that one which was refunded or upgraded after a page appears again
  /// (Apple: Get Transaction History, revision).
  func history(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    let account = try account(id, call)
    let filter = try HistoryFilter(call.query, hasFinishedConsumables: call.path.first != "v1")
    var sold = world.purchases(of: account, in: call.app.id).filter { sold in
      let product = world.product(sold.productID, of: sold.app)
      return filter.admits(sold, product)
    }
    let transactions = world.transactions
    let position = { (sold: SoldTransaction) in
      ListPosition(change: transactions.revision(of: sold.id))
    }
    sold.sort { filter.isDescending ? position($0) > position($1) : position($0) < position($1) }
    return try page(call, sold, into: envelope(call), isDescending: filter.isDescending, position)
  }

  /// Handles Get Refund History.
  ///
  /// A revision names a position and no transaction, because a refund that is reversed leaves the list, and a client may
  /// store the revision of an empty list for later refunds (Apple: RefundHistoryResponse, revision).
  func refunds(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    let transactions = world.transactions
    let position = { (sold: SoldTransaction) in Self.refundPosition(of: sold, in: transactions) }
    let refunded = refunded(try account(id, call), in: call.app.id)
    return try page(call, refunded, into: JSONObject(), isDescending: false, position)
  }

  /// Handles Get Refund History V1, which is deprecated: the latest 50 refunds without pages, by an original transaction id
  /// (Apple: Get Refund History V1, RefundLookupResponse).
  func latestRefunds(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    guard let number = Int64(id), number > 0 else { throw ServerAPIError.invalidOriginalTransactionId }
    guard let sold = world.transaction(number), sold.app == call.app.id, sold.isFirst else {
      throw ServerAPIError.originalTransactionIdNotFound
    }
    let latest = refunded(sold.account, in: call.app.id).suffix(50)
    return ["signedTransactions": .array(try latest.map { .string(try sign($0)) })]
  }

  /// Returns the refunded transactions of an account, the earliest refund first. The end of sharing is no refund (Apple:
  /// "only includes App Store-approved refunds").
  private func refunded(_ account: String, in app: String) -> [SoldTransaction] {
    let transactions = world.transactions
    return world.purchases(of: account, in: app)
      .filter { sold in sold.revocation.map { $0.type != .familyRevoke } ?? false }
      .sorted {
        Self.refundPosition(of: $0, in: transactions) < Self.refundPosition(of: $1, in: transactions)
      }
  }

  private static func refundPosition(
    of sold: SoldTransaction, in transactions: ChangeTrackedDictionary<Int64, SoldTransaction>
  ) -> ListPosition {
    ListPosition(
      refund: sold.revocation?.date.millisecondsSince1970 ?? 0, change: transactions.revision(of: sold.id))
  }

  /// Returns a page of 20 transactions after the given `revision`, which is in every response, also the last one.
  private func page(
    _ call: ServerAPICall, _ sold: [SoldTransaction], into envelope: JSONObject, isDescending: Bool,
    _ position: (SoldTransaction) -> ListPosition
  ) throws -> JSONObject {
    var last: ListPosition?
    var first = 0
    if let text = call.query["revision"], !text.isEmpty {
      let end = try ListPosition(text)
      last = end
      first = sold.firstIndex { isDescending ? position($0) < end : position($0) > end } ?? sold.count
    }
    let page = sold[first...].prefix(Self.pageSize)
    var response = envelope
    response["revision"] = .string((page.last.map(position) ?? last ?? ListPosition(change: 0)).text)
    response["hasMore"] = .bool(first + page.count < sold.count)
    response["signedTransactions"] = .array(try page.map { .string(try sign($0)) })
    return response
  }

  /// The number of transactions or notifications of a page, as at Apple.
  static let pageSize = 20

  /// Handles Get App Transaction Info.
  func appTransaction(_ call: ServerAPICall, _ id: String) throws -> JSONObject {
    let account = try account(id, call)
    guard let payload = world.appTransaction(of: account, in: call.app.id, signed: world.now) else {
      throw ServerAPIError.appTransactionDoesNotExist
    }
    return ["signedAppTransactionInfo": .string(try authority.signer.sign(payload: payload))]
  }

  /// Handles Look Up Order ID. Status 1 means that the order does not exist, or is one of another app.
  func lookUp(_ order: String, _ call: ServerAPICall) throws -> JSONObject {
    let number = Int64(order.dropFirst(), radix: 36)
    guard let sold = number.flatMap({ world.transactions[$0] }), sold.orderID == order,
      sold.app == call.app.id
    else { return ["status": 1, "signedTransactions": []] }
    return ["status": 0, "signedTransactions": [.string(try sign(sold))]]
  }
}

/// The position of a transaction in a list: the content of a `revision`, `r_REFUND_CHANGE` or `r_CHANGE`.
private struct ListPosition: Comparable {
  /// The date of the refund in milliseconds since 1970; 0 in the transaction history.
  private let refund: Int64
  /// The number of the transaction's last change.
  private let change: Int64

  init(refund: Int64 = 0, change: Int64) { (self.refund, self.change) = (refund, change) }

  /// Decodes a `revision`.
  init(_ text: String) throws(ServerAPIError) {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false)
    let numbers = parts.dropFirst().compactMap { Int64($0) }
    guard parts.first == "r", (2...3).contains(parts.count), numbers.count == parts.count - 1,
      let change = numbers.last
    else { throw .invalidRequestRevision }
    self.init(refund: numbers.count == 2 ? numbers[0] : 0, change: change)
  }

  var text: String { refund == 0 ? "r_\(change)" : "r_\(refund)_\(change)" }

  static func < (left: ListPosition, right: ListPosition) -> Bool {
    (left.refund, left.change) < (right.refund, right.change)
  }
}

/// The query parameters of Get Transaction History. A value that Apple does not define is refused with Apple's error
/// for the parameter.
private struct HistoryFilter {
  let isDescending: Bool
  private let hasFinishedConsumables: Bool
  private let start: Int64?
  private let end: Int64?
  private let products: [String]
  private let types: [String]
  private let groups: [String]
  private let ownership: String?
  private let revoked: Bool?

  private static let typeNames: [ProductType: String] = [
    .autoRenewableSubscription: "AUTO_RENEWABLE", .nonRenewingSubscription: "NON_RENEWABLE",
    .consumable: "CONSUMABLE", .nonConsumable: "NON_CONSUMABLE",
  ]

  /// Decodes and validates a query.
  ///
  /// - hasFinishedConsumables: whether the history has consumables that the app finished. Version 1 leaves them out unless
  ///   they are refunded (Apple: Get Transaction History V1, HistoryResponse).
  init(_ query: Query, hasFinishedConsumables: Bool) throws(ServerAPIError) {
    self.hasFinishedConsumables = hasFinishedConsumables
    guard ["ASCENDING", "DESCENDING"].contains(query["sort"] ?? "ASCENDING") else { throw .invalidSort }
    isDescending = query["sort"] == "DESCENDING"
    start = try Self.date(query["startDate"], .invalidStartDate)
    end = try Self.date(query["endDate"], .invalidEndDate)
    if let start, let end, start >= end { throw .startDateAfterEndDate }
    products = query.all("productId")
    types = query.all("productType")
    guard types.allSatisfy(Self.typeNames.values.contains) else { throw .invalidProductType }
    groups = query.all("subscriptionGroupIdentifier")
    ownership = query["inAppOwnershipType"]
    guard ownership.map({ ["PURCHASED", "FAMILY_SHARED", "ASSIGNED"].contains($0) }) ?? true else {
      throw .invalidInAppOwnershipType
    }
    // Version 1 has the inverse parameter `excludeRevoked`.
    let text =
      query["revoked"]?.lowercased() ?? (query["excludeRevoked"]?.lowercased() == "true" ? "false" : nil)
    guard text.map({ ["true", "false"].contains($0) }) ?? true else { throw .invalidRevoked }
    revoked = text.map { $0 == "true" }
  }

  /// A time in milliseconds since 1970; `nil` for an absent parameter.
  private static func date(_ text: String?, _ error: ServerAPIError) throws(ServerAPIError) -> Int64? {
    guard let text else { return nil }
    guard let date = Int64(text), date >= 0 else { throw error }
    return date
  }

  /// Whether the transaction matches all filters.
  func admits(_ sold: SoldTransaction, _ product: SandboxProduct?) -> Bool {
    if !hasFinishedConsumables, product?.type == .consumable, sold.isFinished, sold.revocation == nil {
      return false
    }
    let date = sold.purchaseDate.millisecondsSince1970
    guard start.map({ date >= $0 }) ?? true, end.map({ date < $0 }) ?? true else { return false }
    guard products.isEmpty || products.contains(sold.productID) else { return false }
    guard types.isEmpty || product.flatMap({ Self.typeNames[$0.type] }).map(types.contains) ?? false else {
      return false
    }
    guard groups.isEmpty || product?.subscriptionGroupIdentifier.map(groups.contains) ?? false else {
      return false
    }
    guard ownership.map({ $0 == sold.ownership.rawValue }) ?? true else { return false }
    return revoked.map { $0 == (sold.revocation != nil) } ?? true
  }
}
