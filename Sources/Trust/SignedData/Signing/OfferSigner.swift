package import AppStore
internal import Bytes
package import JSON

/// Signs what an app shows to StoreKit when it presents an offer.
///
/// The forms are those of Apple's server libraries: Apple's servers build the same text and check the
/// signature over it, so that one byte more or less makes an offer fail on the device.
package struct OfferSigner: Sendable {
  private let credentials: AppStoreCredentials

  /// A signer with the in-app purchase key of one app.
  package init(credentials: AppStoreCredentials) { self.credentials = credentials }

  /// The id of the key, which StoreKit asks for beside a legacy signature.
  package var keyID: String { credentials.keyID }

  /// The signature of a promotional offer for `SKPaymentDiscount` and StoreKit 2's first form: DER in
  /// base64, over a text with U+2063 between its parts. Good for 24 hours from `timestamp`.
  ///
  /// `account` is the UUID or user name that the app passes to StoreKit too, and empty if it passes none.
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

  /// A promotional offer as a JWS. `transactionID` may be any of the customer's, or their
  /// `appTransactionId`; Apple recommends to give one.
  package func promotionalOffer(
    productID: String, offerID: String, transactionID: String?, nonce: Nonce, issuedAt: Instant
  ) throws(CryptographyError) -> String {
    var claims: JSONObject = ["productId": .string(productID), "offerIdentifier": .string(offerID)]
    if let transactionID { claims["transactionId"] = .string(transactionID) }
    return try credentials.sign(claims, audience: "promotional-offer", issuedAt: issuedAt, nonce: nonce)
  }

  /// Our word on whether the customer may have the introductory offer, in place of Apple's own rule.
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

  /// An Advanced Commerce request. It travels inside as base64 of its JSON.
  package func advancedCommerceRequest(
    _ request: JSONObject, nonce: Nonce, issuedAt: Instant
  ) throws(CryptographyError) -> String {
    let text = Base64.standard.encode(request.serialized())
    return try credentials.sign(
      ["request": .string(text)], audience: "advanced-commerce-api", issuedAt: issuedAt, nonce: nonce)
  }
}
