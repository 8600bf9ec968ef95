internal import AppStore
internal import Entitlements
internal import JSON
internal import SignedData
internal import Store

// Apple's RealtimeResponseBody: exactly one of its members.
extension RetentionAnswer {
  /// The response of an answer that needs no signature; `nil` for nothing, and for an offer.
  func response() -> JSONObject? {
    switch self {
    case .nothing, .promotionalOffer: return nil
    case .message(let id): return ["message": ["messageIdentifier": .string(id)]]
    case .alternateProduct(let id, let productID, let plan):
      var product: JSONObject = ["messageIdentifier": .string(id), "productId": .string(productID)]
      if let plan { product["billingPlanType"] = .string(plan.rawValue) }
      return ["alternateProduct": .object(product)]
    }
  }

  /// The response of a promotional offer, signed for the subscription of the request; `nil` for other answers. The
  /// signature has a new nonce and the time of the request. The form `jws` also binds it to the subscription; the
  /// legacy form has no account token, so it does not.
  func response(
    to request: RetentionRequestRecord, _ signer: OfferSigner
  ) throws(CryptographyError) -> JSONObject? {
    guard case .promotionalOffer(let id, let product, let offer, let form) = self else { return nil }
    let productID = product ?? request.productID
    let nonce = Nonce.random()
    var content: JSONObject = ["messageIdentifier": .string(id)]
    switch form {
    case .jws:
      // Here the claim transactionId is required, and is the request's (promotionalOfferSignatureV2).
      content["promotionalOfferSignatureV2"] = .string(
        try signer.promotionalOffer(
          productID: productID, offerID: offer, transactionID: request.line.lineID, nonce: nonce,
          issuedAt: request.receivedAt))
    case .legacy:
      let signature = try signer.legacyPromotionalOffer(
        productID: productID, offerID: offer, account: "", nonce: nonce, timestamp: request.receivedAt)
      content["promotionalOfferSignatureV1"] = [
        "encodedSignature": .string(signature), "productId": .string(productID),
        "nonce": .string(nonce.description), "timestamp": JSONValue(request.receivedAt.millisecondsSince1970),
        "keyId": .string(signer.keyID), "offerIdentifier": .string(offer),
      ]
    }
    return ["promotionalOffer": .object(content)]
  }
}
