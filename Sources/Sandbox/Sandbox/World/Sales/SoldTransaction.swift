internal import AppStore

/// One transaction: a purchase, a renewal, or what a member has of one.
struct SoldTransaction: Hashable, Sendable {
  private(set) var id: Int64
  /// The id of the purchase's first transaction.
  let originalID: Int64
  /// The app's id in the configuration.
  let app: String
  /// The Apple account that has the transaction, which need not be the one that paid.
  let account: String
  let productID: String
  /// The order id on the customer's invoice.
  let orderID: String
  /// Subscriptions only: unique per period.
  let webOrderLineItemID: Int64?
  let purchaseDate: Instant
  let originalPurchaseDate: Instant
  /// Subscriptions only. An extension changes it.
  var expiresDate: Instant?
  /// The end before the first extension; `nil` if there was none.
  var firstExpiresDate: Instant?
  /// The number of pieces or seats.
  var quantity: Int64
  var appAccountToken: String?
  let ownership: InAppOwnershipType
  /// Whether the customer bought it or Apple renewed it.
  let reason: TransactionReason
  /// In thousandths of the currency; the average price of a seat if it has ``seats``.
  let price: Int64
  let storefront: Storefront
  /// `nil` for the regular price.
  let offer: Offer?
  /// Subscriptions only.
  var billingPlan: BillingPlan?
  /// The payment of a commitment. A trial that precedes a commitment is none.
  var commitment: CommitmentPayment?
  /// The seats; `nil` unless it is a multiseat purchase.
  var seats: SeatInfo?
  /// Whether several transactions cover its period, because seats were added.
  var hasSeatAdditions = false
  /// Whether the purchaser shares a non-consumable with the family.
  var isShared = true
  /// The refund or the end of sharing.
  var revocation: Revocation?
  /// The refunds that were reversed later. The report of their day has them.
  var reversedRefunds: [Revocation] = []
  /// Whether an upgrade replaced it.
  var isUpgraded = false
  /// Whether the app finished it. Receipts contain consumables only until then.
  var isFinished = false

  /// A refund, or the end of sharing.
  struct Revocation: Hashable, Sendable {
    let date: Instant
    let reason: RevocationReason
    let type: RevocationType
    /// The refunded share in thousandths of a percent. `nil` if no refund, and for the Advanced Commerce API, whose
    /// documents have amounts instead (StoreKit: Transaction.revocationPercentage).
    let percentage: Int64?
  }

  /// Returns the transaction under the id of a restored copy.
  func copy(as id: Int64) -> SoldTransaction {
    var copy = self
    copy.id = id
    return copy
  }

  /// Whether it is the purchase's first transaction.
  var isFirst: Bool { id == originalID }
}

extension Int64 {
  /// The `revocationPercentage` of a full refund.
  static let wholePercentage: Int64 = 100_000
}
