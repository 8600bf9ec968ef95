/// The calls of Apple's servers, as far as they have a budget of their own.
package enum Endpoint: String, Hashable, Sendable, CaseIterable {
  case subscriptionStatuses
  case transactionHistory
  case transactionInfo
  case appTransactionInfo
  case finishTransaction
  case appAccountToken
  case consumption
  case refundHistory
  case extendRenewalDate
  case massExtendRenewalDate
  case massExtensionStatus
  case orderLookup
  case notificationHistory
  case testNotification
  case testNotificationStatus
  case groups
  case seats
  case retentionMessaging
  case advancedCommerce
  case externalPurchase
  case verifyReceipt

  /// How many calls a second Apple allows an app in production, counted by the hour; a tenth of it in the
  /// sandbox (App Store Server API, Identifying rate limits). Where Apple names no limit, the lowest of the
  /// reading calls is taken.
  package var callsPerSecond: Double {
    switch self {
    case .subscriptionStatuses, .transactionHistory, .transactionInfo, .consumption, .notificationHistory: 50
    case .extendRenewalDate: 20
    case .massExtendRenewalDate, .testNotification, .testNotificationStatus: 1
    case .refundHistory, .orderLookup, .appTransactionInfo, .finishTransaction, .appAccountToken,
      .massExtensionStatus, .groups, .seats, .retentionMessaging, .advancedCommerce, .externalPurchase,
      .verifyReceipt:
      10
    }
  }

  /// Whether the same call may be made again when it is not known whether the first one arrived. All but one
  /// only read, set something to a value, or carry an identifier by which Apple knows them again.
  package var isRepeatable: Bool { self != .testNotification }
}
