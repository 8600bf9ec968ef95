internal import AppStore

/// What makes several transactions of one account the same purchase: where it began.
struct PurchaseLine: Hashable {
  let originalTransactionId: String
  let originalPurchaseDate: Instant
}

extension PurchaseLine {
  /// Names a line before it has begun: an account has one for each subscription group and one for each
  /// non-consumable.
  struct Key: Hashable {
    let app: String
    let account: String
    /// The group or the product.
    let subject: String

    init(app: String, account: String, subject: String) {
      self.app = app
      self.account = account
      self.subject = subject
    }

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
}
