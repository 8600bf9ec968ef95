internal import SignedData
package import Store

extension Evidence.Kind {
  /// Apple's signed app transaction, a JWS.
  package static let signedAppTransaction = Evidence.Kind(rawValue: "SIGNED_APP_TRANSACTION")
  /// The body of an App Store Server Notification, version 2.
  package static let notificationV2 = Evidence.Kind(rawValue: "NOTIFICATION_V2")
  /// The body of an App Store Server Notification, version 1.
  package static let notificationV1 = Evidence.Kind(rawValue: "NOTIFICATION_V1")
  /// An app receipt, PKCS#7; stored only if the operator retains receipts. No fact is derived from it.
  package static let appReceipt = Evidence.Kind(rawValue: "APP_RECEIPT")
  /// The contents of an app receipt; see ``ReceiptContents``.
  package static let receiptStatement = Evidence.Kind(rawValue: "RECEIPT_STATEMENT")
  /// An operator command, as JSON.
  package static let operatorCommand = Evidence.Kind(rawValue: "OPERATOR_COMMAND")

  /// Whether it is the body of a notification.
  var isNotification: Bool { self == .notificationV2 || self == .notificationV1 }
}

extension Evidence.Source {
  /// A caller relayed it.
  package static let relay = Evidence.Source(rawValue: "RELAY")
  /// A response of the App Store Server API.
  package static let appStoreServerAPI = Evidence.Source(rawValue: "APP_STORE_SERVER_API")
  /// A migration job.
  package static let migration = Evidence.Source(rawValue: "MIGRATION")
  /// An operator's call.
  package static let operatorCall = Evidence.Source(rawValue: "OPERATOR")
}

extension EvidenceContent {
  /// The content of `bytes` with their SHA-256 by OpenSSL. Above `limit` bytes, only hash and size are
  /// stored.
  package init(hashing bytes: [UInt8], keepingAtMost limit: Int = EvidenceContent.limit) {
    self.init(bytes, hash: SHA256.hash(bytes[...]), keepingAtMost: limit)
  }
}
