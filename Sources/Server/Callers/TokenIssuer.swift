internal import AppStore
internal import Bytes
internal import JSON
package import SignedData
internal import Synchronization

/// An identity provider whose signed tokens (RFC 7519) identify callers.
package final class TokenIssuer: Sendable {
  /// The claims that a token must have.
  package struct Terms: Hashable, Sendable {
    /// The required `iss`.
    package let issuer: String
    /// A required element of `aud`.
    package let audience: String
    /// The claim with the roles of subjects that are not configured; `nil`: such subjects are rejected.
    package let rolesClaim: String?
    /// The claim with the name of the subject.
    package let subjectClaim: String

    /// Creates terms. RFC 7519 names a subject in `sub`; proxies that sign people in often have another claim, such as
    /// `email`.
    package init(issuer: String, audience: String, rolesClaim: String?, subjectClaim: String = "sub") {
      self.issuer = issuer
      self.audience = audience
      self.rolesClaim = rolesClaim
      self.subjectClaim = subjectClaim
    }
  }

  /// The verified claims of a token.
  struct Claims: Sendable {
    /// The value of ``Terms/subjectClaim``; not empty.
    let subject: String
    /// The roles that ``Terms/rolesClaim`` names. Words that are no role are ignored, because the claim may list the
    /// roles of other services too.
    let roles: Set<Role>
    /// The token's `exp` and the tolerated clock skew: from this instant on, the token is rejected.
    let expiresAt: Instant
  }

  /// Tolerated clock skew in milliseconds.
  private static let leeway: Int64 = 30_000

  /// The claims that each token of this issuer must have.
  package let terms: Terms
  private let keys: Mutex<JSONWebKeySet?>
  private let onReplacedKeys = Mutex<(@Sendable () -> Void)?>(nil)
  private let onUnknownKey: @Sendable () -> Void

  /// An issuer with its current keys, if they are loaded. Calls `onUnknownKey` when a token names another
  /// key, which a newer key set may contain.
  package init(_ terms: Terms, keys: JSONWebKeySet?, onUnknownKey: @escaping @Sendable () -> Void = {}) {
    self.terms = terms
    self.keys = Mutex(keys)
    self.onUnknownKey = onUnknownKey
  }

  /// Replaces the keys. Tokens of a key that is no longer in the set are rejected from now on, also those that were
  /// accepted before, and streams that began with them end.
  package func replaceKeys(with keys: JSONWebKeySet) {
    let haveChanged = self.keys.withLock { current in
      defer { current = keys }
      return current != keys
    }
    let action = onReplacedKeys.withLock { $0 }
    if haveChanged { action?() }
  }

  /// Calls `action` after each replacement by other keys. The issuer has one observer: another call replaces the
  /// action.
  func observeKeys(_ action: @escaping @Sendable () -> Void) { onReplacedKeys.withLock { $0 = action } }

  /// Returns the claims of `token` if it is valid at `now`.
  ///
  /// - Throws: ``CallerError/badToken(reason:)``. Only a token that the issuer signed has its claims named there.
  func claims(of token: String, at now: Instant) throws(CallerError) -> Claims {
    let claims = try verifiedClaims(of: token)
    let issuer = claims["iss"]?.stringValue ?? ""
    guard issuer.hasSameBytes(as: terms.issuer) else {
      throw .badToken(reason: "wrong issuer '\(issuer.prefix(100))'")
    }
    let audiences = try Self.audiences(claims["aud"])
    guard audiences.containsID(terms.audience) else {
      throw .badToken(reason: "wrong audience '\(audiences.joined(separator: " ").prefix(100))'")
    }
    guard let expiry = claims["exp"].flatMap(Self.instant) else {
      throw .badToken(reason: "missing expiry")
    }
    let expiresAt = expiry.advanced(byMilliseconds: Self.leeway)
    guard now < expiresAt else { throw .badToken(reason: "expired") }
    if let start = claims["nbf"] {
      guard let start = Self.instant(start) else { throw .badToken(reason: "malformed start") }
      guard now >= start.advanced(byMilliseconds: -Self.leeway) else {
        throw .badToken(reason: "not valid yet")
      }
    }
    guard let subject = claims[terms.subjectClaim]?.stringValue, !subject.isEmpty else {
      throw .badToken(reason: "missing subject, the claim '\(terms.subjectClaim)'")
    }
    // PostgreSQL stores none: the audit entries and inbox entries of other callers in the same write would fail too.
    guard !subject.utf8.contains(0) else {
      throw .badToken(reason: "the subject, the claim '\(terms.subjectClaim)', contains a NUL")
    }
    let roles = terms.rolesClaim.map { Self.texts(claims[$0]) } ?? []
    return Claims(
      subject: subject, roles: Set(roles.compactMap { Role(rawValue: $0) }), expiresAt: expiresAt)
  }

  private func verifiedClaims(of token: String) throws(CallerError) -> JSONObject {
    guard let keys = keys.withLock({ $0 }) else {
      onUnknownKey()
      throw .badToken(reason: "the issuer's keys are not loaded yet")
    }
    do throws(TokenError) {
      return try keys.claims(of: token)
    } catch {
      if error == .unknownKey { onUnknownKey() }
      throw .badToken(reason: error.description)
    }
  }

  /// The audience: a string, or a list of strings (RFC 7519, section 4.1.3).
  private static func audiences(_ value: JSONValue?) throws(CallerError) -> [String] {
    switch value {
    case nil: return []
    case .string(let audience)?: return [audience]
    case .array(let elements)?:
      let audiences = elements.compactMap(\.stringValue)
      guard audiences.count == elements.count else { throw .badToken(reason: "malformed audience") }
      return audiences
    default: throw .badToken(reason: "malformed audience")
    }
  }

  /// Returns the elements of a list, or the words of a string separated by spaces (as scopes in RFC 8693,
  /// section 4.2).
  private static func texts(_ value: JSONValue?) -> [String] {
    if let text = value?.stringValue { return text.split(separator: " ").map(String.init) }
    return value?.arrayValue?.compactMap(\.stringValue) ?? []
  }

  /// Reads seconds since 1970, possibly with decimals (RFC 7519, section 2).
  private static func instant(_ value: JSONValue) -> Instant? {
    guard case .number(let number) = value, number.double.magnitude < 1e12 else { return nil }
    return Instant(millisecondsSince1970: Int64(number.double * 1_000))
  }
}
