/// What kind of product an in-app purchase is (Apple's `type`).
package enum ProductType: OpenCode {
  case autoRenewableSubscription
  case nonConsumable
  case consumable
  case nonRenewingSubscription
  case unrecognized(String)

  package static let known: [ProductType] = [
    .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
  ]

  package var rawValue: String {
    switch self {
    case .autoRenewableSubscription: "Auto-Renewable Subscription"
    case .nonConsumable: "Non-Consumable"
    case .consumable: "Consumable"
    case .nonRenewingSubscription: "Non-Renewing Subscription"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
