internal import AppStore

/// One purchase or one renewal.
struct SoldTransaction: Hashable, Sendable {
  let id: Int64
  /// The first transaction of the same purchase.
  let originalID: Int64
  let app: String
  let account: String
  let productID: String
  /// What the customer finds on the bill.
  let orderID: String
  /// Of a subscription: one for each period.
  let webOrderLineItemID: Int64?
  let purchaseDate: Instant
  let originalPurchaseDate: Instant
  /// Of a subscription. An extension moves it.
  var expiresDate: Instant?
  var quantity: Int64
  var appAccountToken: String?
  let ownership: InAppOwnershipType
  let reason: TransactionReason
  /// In thousandths of the currency.
  let price: Int64
  let storefront: Storefront
  let offer: Offer?
  /// When and why Apple took it back.
  var revocation: Revocation?
  /// A higher level of the group took its place.
  var isUpgraded = false
  /// The app has delivered it. Receipts show consumables only until then.
  var isFinished = false

  struct Revocation: Hashable, Sendable {
    let date: Instant
    let reason: RevocationReason
    let type: RevocationType
    /// In thousandths of a percent, for a refund in part.
    let percentage: Int64?
  }

  /// The transaction with which the same purchase began.
  var isFirst: Bool { id == originalID }
}
