package import AppStore
internal import Bytes
package import JSON

/// Signs offers for StoreKit.
///
/// The texts match Apple's server libraries byte by byte: Apple's servers build the same text and verify the
/// signature over it.
package struct OfferSigner: Sendable {
  private let credentials: AppStoreCredentials

  /// A signer with the in-app purchase key of one app.
  package init(credentials: AppStoreCredentials) { self.credentials = credentials }

  /// The key id, which StoreKit requires with a legacy signature.
  package var keyID: String { credentials.keyID }

  /// Signs a promotional offer for `SKPaymentDiscount` and the first form of StoreKit 2: DER in Base64, over
  /// a text with U+2063 between its parts. Valid for 24 hours from `timestamp`.
  ///
  /// `account` is the UUID or user name that the app passes to StoreKit, or empty.
  ///
  /// - Throws: ``CryptographyError`` if the key cannot sign.
  package func legacyPromotionalOffer(
    productID: String, offerID: String, account: String, nonce: Nonce, timestamp: Instant
  ) throws(CryptographyError) -> String {
    let parts = [
      credentials.bundleID, keyID, productID, offerID, account.lowercased(), nonce.description,
      String(timestamp.millisecondsSince1970),
    ]
    let signature = try credentials.signer.signDER(Array(parts.joined(separator: "\u{2063}").utf8))
    return Base64.standard.encode(signature)
  }

  /// Signs a promotional offer as a JWS. `transactionID` is any of the customer's, or their
  /// `appTransactionId`; Apple recommends one.
  ///
  /// - Throws: ``CryptographyError`` if the key cannot sign.
  package func promotionalOffer(
    productID: String, offerID: String, transactionID: String?, nonce: Nonce, issuedAt: Instant
  ) throws(CryptographyError) -> String {
    var claims: JSONObject = ["productId": .string(productID), "offerIdentifier": .string(offerID)]
    if let transactionID { claims["transactionId"] = .string(transactionID) }
    return try credentials.sign(claims, audience: "promotional-offer", issuedAt: issuedAt, nonce: nonce)
  }

  /// Signs whether the customer is eligible for the introductory offer, which overrides Apple's rule.
  ///
  /// - Throws: ``CryptographyError`` if the key cannot sign.
  package func introductoryOfferEligibility(
    productID: String, isAllowed: Bool, transactionID: String, nonce: Nonce, issuedAt: Instant
  ) throws(CryptographyError) -> String {
    let claims: JSONObject = [
      "productId": .string(productID), "allowIntroductoryOffer": .bool(isAllowed),
      "transactionId": .string(transactionID),
    ]
    return try credentials.sign(
      claims, audience: "introductory-offer-eligibility", issuedAt: issuedAt, nonce: nonce)
  }

  /// Signs an Advanced Commerce request, which the JWS contains as Base64 of its JSON.
  ///
  /// - Throws: ``CryptographyError`` if the key cannot sign.
  package func advancedCommerceRequest(
    _ request: JSONObject, nonce: Nonce, issuedAt: Instant
  ) throws(CryptographyError) -> String {
    let text = Base64.standard.encode(request.serialized())
    return try credentials.sign(
      ["request": .string(text)], audience: "advanced-commerce-api", issuedAt: issuedAt, nonce: nonce)
  }
}
