internal import AppStore
internal import JSON
package import SignedData
internal import Synchronization

/// Somebody else who says who a caller is, in signed tokens (RFC 7519): a company's identity provider.
package final class TokenIssuer: Sendable {
  /// What the tokens must say.
  package struct Terms: Hashable, Sendable {
    /// Their `iss`.
    package let issuer: String
    /// What must be among their `aud`.
    package let audience: String
    /// A claim with the roles of subjects that are not defined by name; `nil`: those are not known.
    package let rolesClaim: String?

    /// Terms by their parts.
    package init(issuer: String, audience: String, rolesClaim: String?) {
      self.issuer = issuer
      self.audience = audience
      self.rolesClaim = rolesClaim
    }
  }

  /// Who a token says that the caller is, and until when.
  struct Statement: Sendable {
    let subject: String
    let roles: Set<Role>
    let expiresAt: Instant
  }

  /// Clocks differ; this much is forgiven, in milliseconds.
  private static let leeway: Int64 = 30_000

  package let terms: Terms
  private let keys: Mutex<JSONWebKeySet?>
  private let onUnknownKey: @Sendable () -> Void

  /// An issuer with the keys known now, if any; `onUnknownKey` is told when a token names a key that is not
  /// among them, which newer ones may have.
  package init(_ terms: Terms, keys: JSONWebKeySet?, onUnknownKey: @escaping @Sendable () -> Void = {}) {
    self.terms = terms
    self.keys = Mutex(keys)
    self.onUnknownKey = onUnknownKey
  }

  /// Puts newer keys in force.
  package func replaceKeys(with keys: JSONWebKeySet) { self.keys.withLock { $0 = keys } }

  /// What `token` says, if it is to be believed at `now`.
  func statement(in token: String, at now: Instant) throws(CallerError) -> Statement {
    let claims = try verifiedClaims(of: token)
    guard claims["iss"]?.stringValue == terms.issuer else {
      throw .badToken(reason: "it is of another issuer")
    }
    guard Self.texts(claims["aud"]).contains(terms.audience) else {
      throw .badToken(reason: "it is meant for others")
    }
    guard let expiry = claims["exp"].flatMap(Self.instant) else {
      throw .badToken(reason: "it does not say when it expires")
    }
    let expiresAt = expiry.advanced(byMilliseconds: Self.leeway)
    guard now < expiresAt else { throw .badToken(reason: "it has expired") }
    if let start = claims["nbf"].flatMap(Self.instant), now < start.advanced(byMilliseconds: -Self.leeway) {
      throw .badToken(reason: "it is not valid yet")
    }
    guard let subject = claims["sub"]?.stringValue, !subject.isEmpty else {
      throw .badToken(reason: "it names no subject")
    }
    let roles = terms.rolesClaim.map { Self.texts(claims[$0]) } ?? []
    return Statement(
      subject: subject, roles: Set(roles.compactMap { Role(rawValue: $0) }), expiresAt: expiresAt)
  }

  private func verifiedClaims(of token: String) throws(CallerError) -> JSONObject {
    guard let keys = keys.withLock({ $0 }) else {
      onUnknownKey()
      throw .badToken(reason: "the issuer's keys are not known yet")
    }
    do throws(TokenError) {
      return try keys.claims(of: token)
    } catch {
      if error == .unknownKey { onUnknownKey() }
      throw .badToken(reason: error.description)
    }
  }

  /// A list of texts, or one text with spaces between its words (RFC 8693, section 4.2, has scopes so).
  private static func texts(_ value: JSONValue?) -> [String] {
    if let text = value?.stringValue { return text.split(separator: " ").map(String.init) }
    return value?.arrayValue?.compactMap(\.stringValue) ?? []
  }

  /// Seconds since 1970, which may have decimals (RFC 7519, section 2).
  private static func instant(_ value: JSONValue) -> Instant? {
    guard case .number(let number) = value, number.double.magnitude < 1e12 else { return nil }
    return Instant(millisecondsSince1970: Int64(number.double * 1_000))
  }
}
