package import AppStore
internal import JSON

/// An in-app purchase key of App Store Connect, with the ids that Apple requires.
package struct AppStoreCredentials: Sendable {
  /// The issuer id of the account in App Store Connect.
  package let issuerID: String
  /// The bundle identifier of the app.
  package let bundleID: String
  let signer: JWTSigner

  /// The key's id in App Store Connect.
  package var keyID: String { signer.keyID }

  /// Credentials whose `signer` is named by the key id of App Store Connect.
  package init(issuerID: String, bundleID: String, signer: JWTSigner) {
    self.issuerID = issuerID
    self.bundleID = bundleID
    self.signer = signer
  }

  /// Signs `claims` plus the claims of every token for Apple.
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
  /// Whole seconds, rounded down, so that a token's time (RFC 7519, section 2) is never in the future.
  package var secondsSince1970: Int64 {
    let (quotient, remainder) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }
}

/// Provides bearer tokens for the App Store Server API.
///
/// Reuses a token until shortly before it expires, as Apple recommends.
package final class ServerAPITokenSource: Sendable {
  /// The maximum lifetime that Apple accepts.
  package static let maxLifetime: Duration = .seconds(60 * 60)

  private let lifetimeMilliseconds: Int64
  private let cache: BearerTokenCache<AppStoreCredentials>

  /// Tokens with a `lifetime`, capped at ``maxLifetime``. A tenth of it is kept in reserve for slow requests.
  package init(
    credentials: AppStoreCredentials, lifetime: Duration = .seconds(20 * 60),
    now: @escaping @Sendable () -> Instant
  ) {
    lifetimeMilliseconds = min(lifetime, Self.maxLifetime).components.seconds * 1000
    cache = BearerTokenCache(credentials: credentials, maxAge: lifetimeMilliseconds / 10 * 9, now: now)
  }

  /// Returns the token for the next request's `Authorization: Bearer`.
  ///
  /// - Throws: ``CryptographyError`` if OpenSSL cannot sign.
  package func token() throws(CryptographyError) -> String {
    try cache.token { credentials, now throws(CryptographyError) in
      try credentials.sign(
        [:], audience: "appstoreconnect-v1", issuedAt: now,
        expiresAt: now.advanced(byMilliseconds: lifetimeMilliseconds), nonce: .random())
    }
  }

  /// Discards the token after Apple rejected it (401).
  package func discard() { cache.discard() }

  /// Signs with the credentials of `other` from the next call on.
  package func adoptCredentials(of other: ServerAPITokenSource) {
    cache.adoptCredentials(of: other.cache)
  }
}
