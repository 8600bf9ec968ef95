package import AppStore
internal import JSON
internal import Synchronization

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

  /// The credentials and the token that they signed last.
  private struct State {
    var credentials: AppStoreCredentials
    /// The number of replacements of the credentials.
    var generation = 0
    /// The last token that these credentials signed.
    var issued: (token: String, at: Instant)?
  }

  private let lifetimeMilliseconds: Int64
  private let now: @Sendable () -> Instant
  private let state: Mutex<State>

  /// Tokens with a `lifetime`, capped at ``maxLifetime``.
  package init(
    credentials: AppStoreCredentials, lifetime: Duration = .seconds(20 * 60),
    now: @escaping @Sendable () -> Instant
  ) {
    state = Mutex(State(credentials: credentials))
    self.lifetimeMilliseconds = min(lifetime, Self.maxLifetime).components.seconds * 1000
    self.now = now
  }

  /// Returns the token for the next request's `Authorization: Bearer`.
  ///
  /// - Throws: ``CryptographyError`` if OpenSSL cannot sign.
  package func token() throws(CryptographyError) -> String {
    let now = now()
    let current = state.withLock { $0 }
    if let issued = current.issued, isFresh(issued.at, at: now) { return issued.token }
    // Two concurrent callers may each sign a token: the lock is not held while signing, and both are valid.
    let token = try current.credentials.sign(
      [:], audience: "appstoreconnect-v1", issuedAt: now,
      expiresAt: now.advanced(byMilliseconds: lifetimeMilliseconds), nonce: .random())
    // A token of credentials that were replaced meanwhile is used for this call only.
    state.withLock { if $0.generation == current.generation { $0.issued = (token, now) } }
    return token
  }

  /// Discards the token after Apple rejected it (401).
  package func discard() { state.withLock { $0.issued = nil } }

  /// Signs with the credentials of `other` from the next call on.
  package func adoptCredentials(of other: ServerAPITokenSource) {
    let credentials = other.state.withLock { $0.credentials }
    state.withLock { $0 = State(credentials: credentials, generation: $0.generation + 1) }
  }

  /// Whether a token issued at `issuedAt` outlives a slow request: a tenth of the lifetime is kept in
  /// reserve. A token from the future, after the clock was set back, is not fresh.
  private func isFresh(_ issuedAt: Instant, at now: Instant) -> Bool {
    let age = now.millisecondsSince1970 - issuedAt.millisecondsSince1970
    return age >= 0 && age < lifetimeMilliseconds / 10 * 9
  }
}
