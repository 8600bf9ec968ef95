package import JSON

/// An action that a tester can perform: `POST /sandbox/v1/NAME` with the members as a JSON object.
package enum Action: String, Hashable, Sendable, CaseIterable {
  // Customers.
  case purchases
  case restore
  case askToBuy = "ask-to-buy"
  case autoRenew = "auto-renew"
  case priceConsent = "price-consent"
  case billing
  case download
  case storefront
  case clearHistory = "clear-history"
  case joinFamily = "join-family"
  case leaveFamily = "leave-family"
  case share
  case stopSharing = "stop-sharing"
  case seats
  case assignSeat = "assign-seat"
  case unclaimSeat = "unclaim-seat"
  case reviewRetention = "review-retention"

  // Apple.
  case requestConsumption = "request-consumption"
  case refund
  case refundSeats = "refund-seats"
  case declineRefund = "decline-refund"
  case reverseRefund = "reverse-refund"
  case rescindConsent = "rescind-consent"
  case externalPurchaseToken = "external-purchase-token"
  case delivery
  case futureDocuments = "future-documents"
  case deviceBits = "device-bits"

  // The developer.
  case price
  case withdraw
  case offers
  case shareable
  case gracePeriod = "grace-period"
  case commitmentRules = "commitment-rules"
  case sharingRules = "sharing-rules"
  case extend
  case massExtend = "mass-extend"
  case extensionTime = "extension-time"
  case finish
  case reportConsumption = "report-consumption"
  case setAppAccountToken = "app-account-token"
  case notificationURL = "notification-url"
  case testNotification = "test-notification"
  case resendNotification = "resend-notification"
  case sharedSecret = "shared-secret"
  case keys
  case revokeKey = "revoke-key"
  case serverTokens = "server-tokens"
  case periods
  case renewalTiming = "renewal-timing"
  case invitations
  case volumePricing = "volume-pricing"
  case claimSeat = "claim-seat"
  case associateSeat = "associate-seat"
  case releaseSeat = "release-seat"
  case retentionImage = "retention-image"
  case retentionMessage = "retention-message"
  case retentionDefault = "retention-default"
  case realtimeURL = "realtime-url"
  case advancedCommerce = "advanced-commerce"
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

/// An action that a new world performs when it begins, such as an offer of a StoreKit configuration file.
package struct PresetAction: Hashable, Sendable {
  let action: Action
  let members: JSONObject

  package init(_ action: Action, _ members: JSONObject) {
    self.action = action
    self.members = members
  }
}
