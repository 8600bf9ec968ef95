package import JSON

/// An action that a tester can perform: `POST /sandbox/v1/NAME` with the members as a JSON object.
///
/// The raw values are names of the test interface, of the command line and of stored journals, so that none may change.
/// The Server API performs some of them too.
package enum Action: String, Hashable, Sendable, CaseIterable {
  // Customers.
  /// Buys a product.
  case purchases
  /// Restores purchases, by default on a new device.
  case restore
  /// Answers a child's request to buy.
  case askToBuy = "ask-to-buy"
  /// Turns auto-renewal of a subscription on or off.
  case autoRenew = "auto-renew"
  /// Answers a price increase.
  case priceConsent = "price-consent"
  /// Lets the charges of an account fail, or succeed again.
  case billing
  /// Downloads or updates the app.
  case download
  /// Moves an account to another country.
  case storefront
  /// Removes what an account bought, as App Store Connect can for testers.
  case clearHistory = "clear-history"
  case joinFamily = "join-family"
  case leaveFamily = "leave-family"
  /// Shares a purchase with the family.
  case share
  case stopSharing = "stop-sharing"
  /// Changes the number of seats.
  case seats
  /// Gives a seat to an account, as Apple's invitation does.
  case assignSeat = "assign-seat"
  /// Takes a seat back for the purchaser: an assigned or a claimed one.
  case unclaimSeat = "unclaim-seat"
  /// Approves or rejects an image or a message.
  case reviewRetention = "review-retention"

  // Apple.
  /// Requests a refund, so that Apple sends `CONSUMPTION_REQUEST`.
  case requestConsumption = "request-consumption"
  /// Refunds a purchase, whole or in part.
  case refund
  /// Refunds some of the seats.
  case refundSeats = "refund-seats"
  case declineRefund = "decline-refund"
  case reverseRefund = "reverse-refund"
  /// Withdraws the consent of a child's parent.
  case rescindConsent = "rescind-consent"
  /// Creates an external purchase token.
  case externalPurchaseToken = "external-purchase-token"
  /// Sets how notifications are delivered: late, lost, or as version 1 of an environment sends them.
  case delivery
  /// Adds unknown fields and types to documents, as a later version of Apple's does.
  case futureDocuments = "future-documents"
  /// Sets the bits of DeviceCheck.
  case deviceBits = "device-bits"

  // The developer.
  /// Changes a price.
  case price
  /// Takes a product off sale.
  case withdraw
  case offers
  /// Turns Family Sharing of a product on.
  case shareable
  case gracePeriod = "grace-period"
  case commitmentRules = "commitment-rules"
  case sharingRules = "sharing-rules"
  /// Extends the renewal date of one subscription.
  case extend
  /// Extends the renewal dates of all subscribers of a product.
  case massExtend = "mass-extend"
  /// Sets how long a mass extension takes.
  case extensionTime = "extension-time"
  /// Finishes a transaction, as the app does after delivery.
  case finish
  case reportConsumption = "report-consumption"
  case setAppAccountToken = "app-account-token"
  case notificationURL = "notification-url"
  case testNotification = "test-notification"
  case resendNotification = "resend-notification"
  case sharedSecret = "shared-secret"
  /// Registers a public key of the Server API and of offer signatures.
  case keys
  case revokeKey = "revoke-key"
  /// Sets whether tokens must have all that Apple documents.
  case serverTokens = "server-tokens"
  /// Sets the renewal rate, of all accounts or of one.
  case periods
  /// Sets when renewals are charged and failures announced.
  case renewalTiming = "renewal-timing"
  /// Sets the party that invites to the seats of a product.
  case invitations
  /// Sets the volume discounts of a product.
  case volumePricing = "volume-pricing"
  case claimSeat = "claim-seat"
  case associateSeat = "associate-seat"
  case releaseSeat = "release-seat"
  case retentionImage = "retention-image"
  case retentionMessage = "retention-message"
  case retentionDefault = "retention-default"
  /// Sets the URL for requests of retention messages.
  case realtimeURL = "realtime-url"
  /// Performs a request of the Advanced Commerce API.
  case advancedCommerce = "advanced-commerce"
  /// Reports an external purchase.
  case externalPurchaseReport = "external-purchase-report"

  /// The names of the members that the action accepts.
  package var members: [String] {
    switch self {
    case .purchases: PurchaseOrder.members
    case .restore: ["app", "account", "newDevice"]
    case .clearHistory: ["app", "account"]
    case .askToBuy: ["request", "approved"]
    case .autoRenew: ["transactionId", "enabled"]
    case .priceConsent: ["transactionId", "agreed"]
    case .billing: ["account", "fails"]
    case .download: ["app", "account", "version", "originalVersion", "preorderDate"]
    case .storefront: ["account", "storefront"]
    case .joinFamily: ["account", "family"]
    case .leaveFamily: ["account"]
    case .share, .stopSharing, .finish, .declineRefund, .reverseRefund: ["transactionId"]
    case .seats: ["transactionId", "seats"]
    case .assignSeat: ["transactionId", "account"]
    case .unclaimSeat: ["transactionId", "account", "seatClaimId"]
    case .requestConsumption: ["transactionId", "reason"]
    case .reportConsumption: ["transactionId", "version", "information"]
    case .refund: ["transactionId", "percent", "reason"]
    case .refundSeats: ["transactionId", "seats"]
    case .rescindConsent: ["app", "account"]
    case .externalPurchaseToken: ["app", "tokenType", "expires"]
    case .deviceBits: ["device", "bit0", "bit1"]
    case .delivery: ["app", "rules", "delays", "seed", "late", "lost", "upgradesByCancel"]
    case .futureDocuments: ["app", "fields", "types"]
    case .price:
      ["app", "productId", "price", "billingPlanType", "needsConsent", "notice", "storefront"]
    case .withdraw: ["app", "productId", "withdrawn"]
    case .offers:
      ["app", "productId", "id", "type", "mode", "period", "periods", "price", "billingPlanType"]
    case .shareable: ["app", "productId", "enabled"]
    case .gracePeriod: ["app", "days", "renewalType"]
    case .commitmentRules: ["app", "expiredSubtype", "lastPeriodAutoRenewStatus"]
    case .sharingRules:
      ["app", "addedSeats", "purchaserNeedsSeat", "seatRevocation", "revokedByUpgrade"]
    case .extend: ["transactionId", "days", "requestIdentifier"]
    case .massExtend: ["app", "productId", "days", "requestIdentifier", "storefronts"]
    case .extensionTime: ["app", "by"]
    case .setAppAccountToken: ["transactionId", "appAccountToken"]
    case .notificationURL: ["app", "url", "version"]
    case .testNotification: ["app"]
    case .resendNotification: ["notificationUUID"]
    case .sharedSecret: ["app", "password"]
    case .keys: ["keyId", "publicKey"]
    case .revokeKey: ["keyId"]
    case .serverTokens: ["asDocumented"]
    case .periods: ["month", "testFlight", "account"]
    case .renewalTiming: ["chargeLead", "failureDelay", "staleFailures"]
    case .invitations: ["app", "productId", "management"]
    case .volumePricing: ["app", "productId", "bands"]
    case .claimSeat: ["transactionId", "requestIdentifier", "appTransactionId"]
    case .associateSeat: ["transactionId", "seatClaimId", "appTransactionId"]
    case .releaseSeat: ["transactionId", "seatClaimId"]
    case .retentionImage: ["app", "id", "imageSize", "deleted"]
    case .retentionMessage: ["app", "id", "content"]
    case .retentionDefault: ["app", "productId", "locale", "id"]
    case .reviewRetention: ["app", "id", "approved"]
    case .realtimeURL: ["app", "url"]
    case .advancedCommerce: ["transactionId", "request", "price", "seats"]
    case .externalPurchaseReport: ["app", "report"]
    }
  }
}

/// The result of an action.
struct Outcome {
  /// The ids of the affected transactions, the most important one first.
  var transactions: [Int64] = []
  /// Further members of the response.
  var members: [(String, String)] = []
}

/// An action that a new world performs when it begins, such as an offer of a StoreKit configuration file. One that the
/// world rejects is left out without an error.
package struct PresetAction: Hashable, Sendable {
  let action: Action
  let members: JSONObject

  /// Creates an action with its members as in a request body.
  package init(_ action: Action, _ members: JSONObject) {
    self.action = action
    self.members = members
  }
}
