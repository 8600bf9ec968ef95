internal import AppStore
internal import Entitlements
internal import Store

/// Writes the latest price of each product and storefront. Nearly all transactions of a day leave the row as it is.
final class PriceRows {
  private let upsert: any SQLStatement
  /// The last price written under each key, which the stored one is not older than.
  private var written: [Key: StorefrontPrice] = [:]
  /// More than an app's products and storefronts.
  private static let capacity = 16_384

  private struct Key: Hashable {
    let appEnvironment: AppEnvironment
    let productID: String
    let storefront: String
    let billingPlan: BillingPlanType?
    let reason: TransactionReason?
  }

  init(_ connection: any SQLConnection) throws(StoreError) {
    upsert = try connection.prepare(
      """
      INSERT INTO storefront_price
        (product_id, storefront, app, environment, billing_plan, reason, day, milliunits, currency)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (product_id, storefront, app, environment, billing_plan, reason) DO UPDATE
      SET day = excluded.day, milliunits = excluded.milliunits, currency = excluded.currency
      WHERE (excluded.day, excluded.milliunits, excluded.currency)
        > (storefront_price.day, storefront_price.milliunits, storefront_price.currency)
      """)
  }

  /// Stores the price that a transaction states, if it is the latest.
  func put(_ fact: TransactionFact, of line: LineKey) throws(StoreError) {
    guard let price = StorefrontPrice(fact) else { return }
    let key = Key(
      appEnvironment: line.appEnvironment, productID: price.productID, storefront: price.storefront,
      billingPlan: price.billingPlan, reason: price.reason)
    if let last = written[key], price == last || price.isOlder(than: last) { return }
    try upsert.bind(1, price.productID)
    try upsert.bind(2, price.storefront)
    try upsert.bind(3, line.appID)
    try upsert.bind(4, line.environment.rawValue)
    try upsert.bind(5, price.billingPlan?.rawValue ?? "")
    try upsert.bind(6, price.reason?.rawValue ?? "")
    try upsert.bind(7, price.day)
    try upsert.bind(8, price.milliunits)
    try upsert.bind(9, price.currency)
    try upsert.run()
    if written.count >= Self.capacity { written.removeAll(keepingCapacity: true) }
    written[key] = price
  }

  /// Discards cached state after a rollback.
  func rolledBack() { written.removeAll(keepingCapacity: true) }
}

extension StorefrontPrice {
  /// Whether the price is that of an earlier day, or a lower one of the same day.
  fileprivate func isOlder(than other: StorefrontPrice) -> Bool {
    (day, milliunits) < (other.day, other.milliunits)
  }
}

extension SQLReader {
  func prices(
    of productID: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [StorefrontPrice] {
    try rows(
      """
      SELECT storefront, billing_plan, reason, day, milliunits, currency FROM storefront_price
      WHERE product_id = ? AND app = ? AND environment = ? ORDER BY storefront, billing_plan, reason
      """, productID, appID, environment
    ) { row in
      StorefrontPrice(
        productID: productID, storefront: row.text(0) ?? "",
        billingPlan: row.text(1).flatMap { $0.isEmpty ? nil : BillingPlanType(rawValue: $0) },
        reason: row.text(2).flatMap { $0.isEmpty ? nil : TransactionReason(rawValue: $0) },
        day: row.number(3), milliunits: row.number(4), currency: row.text(5) ?? "")
    }
  }
}
