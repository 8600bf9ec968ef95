internal import AppStore
internal import Entitlements
internal import Store

/// Reads and writes `purchase_state`.
final class PurchaseStateRows {
  static let columns = """
    row_number, line_id, app, environment, customer_id, reason, transaction_id, product_id, storefront, mode,
    ownership, since, ends_at, commitment_ends_at, needs_consent, win_back_offers, paid_ms, paid_since, price,
    currency, due_at
    """
  private static let key = "line_id, app, environment, customer_id"
  /// The columns that a renewal changes. The indexes of the others stay untouched then.
  private static let changing = """
    reason, transaction_id, ends_at, commitment_ends_at, needs_consent, win_back_offers, paid_ms, paid_since,
    price, currency, due_at
    """
  private static let constant = "state, product_id, storefront, mode, ownership, since"

  let ofLine: KeyedRead<LineKey, [StoredPurchaseState]>
  private let insert: any SQLStatement
  private let update: any SQLStatement
  private let delete: any SQLStatement

  init(_ connection: any SQLConnection, in workspace: Workspace?) throws(StoreError) {
    ofLine = try KeyedRead(
      """
      SELECT \(Self.columns) FROM purchase_state WHERE line_id = ? AND app = ? AND environment = ?
      ORDER BY customer_id
      """, on: connection, in: workspace
    ) { _, row throws(StoreError) in
      var states: [StoredPurchaseState] = []
      while try row.step() { states.append(try Self.member(row).purchase) }
      return states
    }
    insert = try connection.prepare(
      Upsert.sql("purchase_state", key: Self.key, "\(Self.key), \(Self.changing), \(Self.constant)"))
    let assignments = Self.changing.split { ", \n".contains($0) }.map { "\($0) = ?" }
    update = try connection.prepare(
      """
      UPDATE purchase_state SET \(assignments.joined(separator: ", "))
      WHERE line_id = ? AND app = ? AND environment = ? AND customer_id = ?
      """)
    delete = try connection.prepare(
      "DELETE FROM purchase_state WHERE line_id = ? AND app = ? AND environment = ? AND customer_id = ?")
  }

  func put(_ stored: StoredPurchaseState, known: StoredPurchaseState?) throws(StoreError) {
    if let known, known.state.keepsIndexes(of: stored.state) {
      let next = try bindChanging(stored.state, to: update, at: 1)
      try update.bind(stored.line.bind(to: update, at: next), stored.customerID)
      try update.run()
    } else {
      let next = try stored.line.bind(to: insert, at: 1)
      try insert.bind(next, stored.customerID)
      let last = try bindChanging(stored.state, to: insert, at: next + 1)
      try insert.bind(last, stored.state.state.rawValue)
      try insert.bind(last + 1, stored.state.productID)
      try insert.bind(last + 2, stored.state.storefront)
      try insert.bind(last + 3, Int64(stored.state.mode.rawValue))
      try insert.bind(last + 4, stored.state.ownership.rawValue)
      try insert.bind(last + 5, stored.state.since.millisecondsSince1970)
      try insert.run()
    }
    keep(stored.line) { $0.filter { $0.customer != stored.customer } + [stored] }
  }

  func delete(_ stored: StoredPurchaseState) throws(StoreError) {
    try delete.bind(stored.line)
    try delete.bind(4, stored.customerID)
    try delete.run()
    keep(stored.line) { $0.filter { $0.customer != stored.customer } }
  }

  private func keep(_ line: LineKey, _ change: ([StoredPurchaseState]) -> [StoredPurchaseState]) {
    guard let known = ofLine.known(line) else { return }
    ofLine.keep(change(known).sorted { $0.customerID < $1.customerID }, of: line)
  }

  private func bindChanging(
    _ state: PurchaseState, to row: any SQLStatement, at first: CInt
  ) throws(StoreError) -> CInt {
    let (fixed, growing) = state.paidService.columns
    let values: [any StatementValue] = [
      state.reason.rawValue, state.transactionID, state.endsAt, state.commitmentEndsAt,
      state.needsPriceConsent, state.winBackOfferIDs.joined(separator: "\n"), fixed, growing, state.price,
      state.currency, state.validUntil,
    ]
    var position = first
    for value in values { position = try value.bind(to: row, at: position) }
    return position
  }

  /// Decodes ``columns``.
  static func member(_ row: any SQLStatement) throws(StoreError) -> SegmentMember {
    let reason: EntitlementReason = try row.value(5)
    guard let mode = EntitlementSubstate(rawValue: Int(row.number(9))) else {
      throw .corrupt("a purchase state has an unknown payment mode")
    }
    let state = PurchaseState(
      reason: reason, transactionID: row.text(6) ?? "", productID: row.text(7) ?? "",
      storefront: row.text(8) ?? "", mode: mode,
      ownership: InAppOwnershipType(rawValue: row.text(10) ?? ""),
      since: Instant(millisecondsSince1970: row.number(11)), endsAt: row.instant(12),
      commitmentEndsAt: row.instant(13), needsPriceConsent: row.number(14) == 1,
      winBackOfferIDs: (row.text(15) ?? "").split(separator: "\n").map(String.init),
      paidService: row.instant(17).map { .growing(since: $0) } ?? .fixed(row.number(16)),
      price: row.isNull(18) ? nil : row.number(18), currency: row.text(19), validUntil: row.instant(20))
    let line = LineKey(appID: row.text(2) ?? "", environment: try row.value(3), lineID: row.text(1) ?? "")
    return SegmentMember(
      number: row.number(0),
      purchase: StoredPurchaseState(line: line, customerID: row.text(4) ?? "", state: state))
  }
}

extension PurchaseState {
  /// Whether both have the same values in the indexes that a renewal does not change.
  fileprivate func keepsIndexes(of other: PurchaseState) -> Bool {
    state == other.state && productID == other.productID && storefront == other.storefront
      && mode == other.mode && ownership == other.ownership && since == other.since
  }
}

extension PaidServiceCount {
  /// `paid_ms` and `paid_since`.
  fileprivate var columns: (fixed: Int64?, growing: Instant?) {
    switch self {
    case .fixed(let count): (count, nil)
    case .growing(let start): (nil, start)
    }
  }
}
