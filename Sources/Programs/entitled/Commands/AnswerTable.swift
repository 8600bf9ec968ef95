internal import AppStore
internal import Wire

// What the commands print of an answer for people.

extension CheckResponse {
  var rows: [(String, String)] {
    [
      ("entitled", entitled ? "yes" : "no"),
      ("entitlement", entitlement),
      ("state", "\(stateCode) \(state.protoName.droppingPrefix("ENTITLEMENT_STATE_"))"),
      ("until", until.text),
      ("reason", reason),
      ("", explanation),
      ("product", productId),
      ("transaction", transactionId),
      ("original transaction", originalTransactionId),
      ("will renew", productType == .autoRenewableSubscription ? (willRenew ? "yes" : "no") : ""),
      ("environment", environment.protoName.droppingPrefix("ENVIRONMENT_")),
    ]
  }

  /// The answer in a line.
  var summary: String {
    let end = until.text.isEmpty ? "" : " until \(until.text)"
    return "\(entitled ? "entitled" : "not entitled")\(end) (\(reason))"
  }
}

extension SubmitTransactionResponse {
  var rows: [(String, String)] {
    [
      ("evidence", "\(evidenceId)\(alreadyKnown ? " (known already)" : "")"),
      ("customer", customerId),
      ("product", transaction?.productId ?? ""),
      ("transaction", transaction?.transactionId ?? ""),
      ("original transaction", transaction?.originalTransactionId ?? ""),
      ("environment", environment.protoName.droppingPrefix("ENVIRONMENT_")),
    ]
  }
}

extension InspectResponse {
  var rows: [(String, String)] {
    [
      ("kind", kind.protoName.droppingPrefix("DOCUMENT_KIND_")),
      ("verified", verified ? "yes" : "no"),
      ("reason", reason),
      ("", explanation),
      ("bundle id", bundleId),
      ("signed", signedDate.text),
      ("payload", payloadJson),
    ]
  }
}

extension GoogleProtobuf.Timestamp? {
  /// RFC 3339, or nothing.
  var text: String {
    self?.millisecondsSince1970.map { Instant(millisecondsSince1970: $0).description } ?? ""
  }
}

extension String {
  func droppingPrefix(_ prefix: String) -> String {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
  }
}
