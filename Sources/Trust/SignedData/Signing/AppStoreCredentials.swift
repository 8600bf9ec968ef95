package import AppStore
internal import JSON
internal import Synchronization

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

/// The tokens with which the App Store Server API is called.
///
/// A token is reused until shortly before it expires: Apple recommends it, and a signature for each request
/// would be wasted.
package final class ServerAPITokenSource: Sendable {
  /// The longest that Apple lets a token live.
  package static let longestLifetime: Duration = .seconds(60 * 60)

  private enum State {
    case none
    case issued(token: String, issuedAt: Instant)
  }

  private let credentials: AppStoreCredentials
  private let lifetimeMilliseconds: Int64
  private let now: @Sendable () -> Instant
  private let state = Mutex(State.none)

  /// Tokens that live for `lifetime`, by the clock `now`. A lifetime longer than Apple allows is cut to what
  /// it allows.
  package init(
    credentials: AppStoreCredentials, lifetime: Duration = .seconds(20 * 60),
    now: @escaping @Sendable () -> Instant
  ) {
    self.credentials = credentials
    self.lifetimeMilliseconds = min(lifetime, Self.longestLifetime).components.seconds * 1000
    self.now = now
  }

  /// A token for the next request, as it stands behind `Authorization: Bearer`.
  package func token() throws(CryptographyError) -> String {
    let now = now()
    if case .issued(let token, let issuedAt) = state.withLock({ $0 }), isFresh(issuedAt, at: now) {
      return token
    }
    // Two callers at once may sign one each: the lock is not held while signing, and both are good.
    let token = try credentials.sign(
      [:], audience: "appstoreconnect-v1", issuedAt: now,
      expiresAt: now.advanced(byMilliseconds: lifetimeMilliseconds), nonce: .random())
    state.withLock { $0 = .issued(token: token, issuedAt: now) }
    return token
  }

  /// Forgets the token, after Apple refused it (401): the next call gets another one.
  package func discard() { state.withLock { $0 = .none } }

  /// Whether a token of that moment still outlives a slow request: a tenth of its life is kept in reserve. A
  /// token from the future, after the clock was set back, is not.
  private func isFresh(_ issuedAt: Instant, at now: Instant) -> Bool {
    let age = now.millisecondsSince1970 - issuedAt.millisecondsSince1970
    return age >= 0 && age < lifetimeMilliseconds / 10 * 9
  }
}
