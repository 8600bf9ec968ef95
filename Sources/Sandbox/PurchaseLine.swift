internal import AppStore

/// What makes several transactions of one account the same purchase: its key here, and where it began.
///
/// An account has one line for each subscription group and one for each non-consumable. Consumables
/// and non-renewing subscriptions begin a new line each time.
struct PurchaseLine: Hashable {
  /// Names a line before it has begun.
  struct Key: Hashable {
    private let app: String
    private let account: String
    private let subject: String

    /// `nil` if every purchase of the product stands for itself.
    init?(app: SandboxApp, account: String, product: SandboxProduct) {
      switch product.type {
      case .autoRenewableSubscription:
        subject = "group " + (product.subscriptionGroupIdentifier ?? product.productId)
      case .nonConsumable: subject = "product " + product.productId
      case .consumable, .nonRenewingSubscription, .unrecognized: return nil
      }
      self.app = app.id
      self.account = account
    }
  }

  let originalTransactionId: String
  let originalPurchaseDate: Instant
}
