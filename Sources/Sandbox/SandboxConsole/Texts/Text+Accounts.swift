internal import AppStore
internal import Pages
internal import Sandbox

/// The texts of accounts and their purchases, of the shop and of the catalog.
extension Text {
  // Accounts.
  static func accountsHint(_ total: Int) -> String {
    total == 1 ? "1 account has the app." : "\(total) accounts have the app."
  }
  static let noAccounts = "No account yet. Buy something: the account is created with its first purchase."
  static func allAccounts(_ total: Int) -> String { "All \(total) accounts" }
  static let newer = "Newer"
  static let buy = "Buy"
  static let buyForNewAccount = "Buy for a new account"
  static let toShop = "To the shop"
  static let acceptCharges = "Let charges succeed"
  static let declineCharges = "Decline the card"
  static let chargesFail = "the card is declined"
  static let chargesSucceed = "charges succeed"
  static func inFamily(_ name: String) -> String { "family \(name)" }
  static let leaveFamily = "Leave the family"
  static func more(_ count: Int) -> String { "and \(count) more" }
  static func pictureTitle(_ account: String) -> String { "What \(account) had, and when" }
  static let ownsNothing = "Nothing was bought. The shop sells to this account."
  static let requestsToBuy = "Waiting for a parent"
  static let approve = "Approve"
  static let decline = "Decline"
  static let turnRenewalOff = "Turn auto-renew off"
  static let turnRenewalOn = "Turn auto-renew on"
  static let agree = "Agree to the new price"
  static func asksConsent(_ price: String) -> String { "asks for consent to \(price)" }
  static func renewsTo(_ product: String, _ price: String) -> String { "Renews to \(product) for \(price)" }
  static let renewalOff = "Auto-renew is off"
  static func payment(_ number: Int) -> String { "payment \(number) of 12" }
  static func seatCount(_ count: Int64, _ used: Int) -> String {
    "\(count == 1 ? "1 seat" : "\(count) seats"), \(used) used:"
  }
  static func times(_ quantity: Int64) -> String { "\(quantity) items" }

  static func state(_ state: PurchaseView.State) -> String {
    switch state {
    case .active: "active"
    case .grace: "in grace period"
    case .retry: "in billing retry"
    case .ended: "ended"
    case .revoked: "revoked"
    case .owned: "owned"
    case .refunded: "refunded"
    }
  }

  static func until(_ state: PurchaseView.State) -> String {
    switch state {
    case .active: "Paid until"
    case .grace: "Access in the grace period until"
    case .retry: "Apple retries the charge until"
    case .ended, .revoked, .owned, .refunded: "Was paid until"
    }
  }

  static func ownership(_ ownership: InAppOwnershipType) -> String {
    switch ownership {
    case .purchased: "purchased"
    case .familyShared: "shared by the family"
    case .assigned: "assigned seat"
    case .unrecognized(let text): text
    }
  }

  // Shop and catalog.
  static let shop = "Shop"
  static let shopHint = "What the app sells. A purchase without an account creates a new one."
  static let noProducts = "The app has no products. Add them to the configuration."
  static let noPrice = "no price"
  static let cannotBuy =
    "Not for sale: it needs a price, a subscription also a period, and it must not be withdrawn."
  static func group(_ group: String, _ level: Int) -> String { "group \(group), level \(level)" }
  static let shareable = "shared with families"
  static let withdrawn = "withdrawn"
  static let upfront = "billed up front"
  static func monthly(_ price: String) -> String { "12 monthly payments of \(price)" }
  static func buyProduct(_ product: String) -> String { "Buy \(product.shortened(to: 40))" }
  static func offer(_ offer: OfferView) -> String {
    let price = Format.money(offer.price)
    let mode = Format.words(offer.mode.rawValue)
    let count = offer.periods > 1 ? ", \(offer.periods) periods" : ""
    return
      "\(offer.id.shortened(to: 40)): \(Format.words(offer.type)), \(mode), \(Format.period(offer.period))\(count), \(price)"
  }
  static let catalogHint =
    "Products as in App Store Connect. Prices are those of the default storefront, USA."
  static let invitedByDeveloper = "the developer invites"
  static let changePrice = "Change the price"
  static let addOffer = "Add an offer"
  static let makeShareable = "Share with families"
  static let unshare = "Stop family sharing"
  static let withdraw = "Withdraw from sale"
  static let sellAgain = "Sell again"
}
