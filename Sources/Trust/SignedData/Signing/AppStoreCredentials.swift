package import AppStore
internal import JSON

/// An in-app purchase key of App Store Connect, with all that Apple has to be told beside a signature.
package struct AppStoreCredentials: Sendable {
  /// The account's issuer id, from the page of the keys.
  package let issuerID: String
  /// The app that is signed for.
  package let bundleID: String
  let signer: JWTSigner

  /// The key's id in App Store Connect.
  package var keyID: String { signer.keyID }

  /// Credentials by their parts; `signer` has the key's id of App Store Connect as its name.
  package init(issuerID: String, bundleID: String, signer: JWTSigner) {
    self.issuerID = issuerID
    self.bundleID = bundleID
    self.signer = signer
  }

  /// Signs `claims` together with those that every token for Apple has.
  func sign(
    _ claims: JSONObject, audience: String, issuedAt: Instant, expiresAt: Instant? = nil, nonce: Nonce
  ) throws(CryptographyError) -> String {
    var claims = claims
    claims["bid"] = .string(bundleID)
    claims["iss"] = .string(issuerID)
    claims["aud"] = .string(audience)
    claims["iat"] = .number(JSONNumber(issuedAt.secondsSince1970))
    if let expiresAt { claims["exp"] = .number(JSONNumber(expiresAt.secondsSince1970)) }
    claims["nonce"] = .string(nonce.description)
    return try signer.sign(claims)
  }
}

extension Instant {
  /// Whole seconds, rounded down: a token's time (RFC 7519, section 2) is never later than the clock's.
  package var secondsSince1970: Int64 {
    let (quotient, remainder) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
