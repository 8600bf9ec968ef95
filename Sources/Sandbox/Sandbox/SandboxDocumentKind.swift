/// The documents in which the simulator speaks of a sale, as its paths name them.
package enum SandboxDocumentKind: String, Hashable, Sendable, CaseIterable {
  case transaction
  /// Of a subscription only.
  case renewalInfo = "renewal-info"
  case appTransaction = "app-transaction"
  /// A server notification, version 2: the signed payload.
  case notification
  /// Of a subscription only.
  case retentionMessageRequest = "retention-message-request"
  /// PKCS#7, in base64.
  case appReceipt = "app-receipt"
  /// As before iOS 7: a property list, in base64.
  case transactionReceipt = "transaction-receipt"
  /// A server notification, version 1: the body, which nobody signs. Of a subscription only.
  case notificationV1 = "notification-v1"
}
