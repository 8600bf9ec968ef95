package import JSON

/// The kinds of documents that Apple signs as JWS.
package enum SignedDocumentKind: Hashable, Sendable, CaseIterable {
  case transaction
  case renewalInfo
  case appTransaction
  case notification
  case retentionMessageRequest

  /// Determines the kind by members that only one kind has, because a JWS does not name it; `nil` for other
  /// documents.
  package init?(payload: JSONObject) {
    if payload["notificationType"] != nil {
      self = .notification
    } else if payload["userLocale"] != nil, payload["requestIdentifier"] != nil {
      self = .retentionMessageRequest
    } else if payload["receiptType"] != nil || payload["originalApplicationVersion"] != nil {
      self = .appTransaction
    } else if payload["autoRenewStatus"] != nil || payload["autoRenewProductId"] != nil {
      self = .renewalInfo
    } else if payload["transactionId"] != nil || payload["originalTransactionId"] != nil {
      self = .transaction
    } else {
      return nil
    }
  }
}
