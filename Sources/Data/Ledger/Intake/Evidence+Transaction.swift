package import AppStore
internal import JSON
internal import SignedData
package import Store

extension Evidence {
  /// All that Apple said of the transaction in this evidence, which was verified when it came; `nil` if there
  /// is none in it.
  package var transactionPayload: JWSTransactionDecodedPayload? {
    guard verdict == .accepted, let body = content.body else { return nil }
    let document: String?
    switch kind {
    case .signedTransaction: document = String(decoding: body, as: UTF8.self)
    case .notificationV2:
      guard case .signed(let text) = NotificationBody(body), let jws = try? UnverifiedJWS(text) else {
        return nil
      }
      document = try? ResponseBodyV2DecodedPayload(json: jws.payload).data?.signedTransactionInfo
    default: return nil
    }
    return document.flatMap { try? UnverifiedJWS($0) }.flatMap {
      try? JWSTransactionDecodedPayload(json: $0.payload)
    }
  }
}

extension EvidenceContent {
  /// The content of `bytes`, with the SHA-256 that OpenSSL computes; of more than `limit` bytes only the hash and the
  /// size are kept.
  package init(hashing bytes: [UInt8], keepingAtMost limit: Int = EvidenceContent.limit) {
    self.init(bytes, hash: SHA256.hash(bytes[...]), keepingAtMost: limit)
  }
}
