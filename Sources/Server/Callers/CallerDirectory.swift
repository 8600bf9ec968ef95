package import AppStore
internal import Bytes
package import HTTP
internal import SignedData

/// The configured callers, found by their credentials.
package struct CallerDirectory: Sendable {
  /// The caller that a credential belongs to.
  package struct Match: Sendable {
    /// The configured caller.
    package let caller: Caller
    /// When the credential expires; `nil`: never.
    package let expiresAt: Instant?
    /// The subject of a signed token; `nil` for other credentials.
    package var subject: String?
  }

  /// The identity provider; `nil`: only configured tokens are accepted.
  package let issuer: TokenIssuer?
  private let tokens: [(hash: TokenHash, caller: Caller)]
  private let subjects: [OpaqueID: Caller]
  private let certificateNames: [String: Caller]

  /// The directory of `definitions`. Each caller starts with a full token bucket, so a reload of the configuration
  /// refills all buckets. No two definitions have a credential in common, as the configuration guarantees; otherwise
  /// the first one with a subject or certificate name counts.
  package init(_ definitions: [CallerDefinition], issuer: TokenIssuer? = nil) {
    self.issuer = issuer
    let callers = definitions.map { definition in
      Caller(
        name: definition.name, roles: definition.roles, apps: definition.apps,
        bucket: definition.rateLimit.map(TokenBucket.init))
    }
    let known = Array(zip(definitions, callers))
    tokens = known.flatMap { definition, caller in definition.tokens.map { ($0, caller) } }
    subjects = Dictionary(
      known.flatMap { definition, caller in definition.subjects.map { (OpaqueID($0), caller) } },
      uniquingKeysWith: { first, _ in first })
    certificateNames = Dictionary(
      known.flatMap { definition, caller in definition.certificateNames.map { ($0, caller) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Returns the caller of a token, or without one the caller of a certificate.
  ///
  /// `authorization` is the value of that field; `certificateNames` are the subject alternative names of the
  /// client certificate that the transport verified. A token counts alone: an unknown one fails, also beside a known
  /// certificate.
  ///
  /// - Throws: ``CallerError/noCredential`` without either, ``CallerError/unknownCertificate`` if no name belongs to a
  ///   caller, and the reason why a token is not accepted.
  package func find(
    authorization: UnsafeRawBufferPointer?, certificateNames names: [String], at now: () -> Instant
  ) throws(CallerError) -> Match {
    if let authorization { return try find(bearing: try Self.token(authorization), at: now) }
    for name in names {
      if let caller = certificateNames[name] { return Match(caller: caller, expiresAt: nil) }
    }
    throw names.isEmpty ? .noCredential : .unknownCertificate
  }

  /// Whether an `authorization` field has a token whose signature would be verified.
  func verifiesSignature(of authorization: UnsafeRawBufferPointer) -> Bool {
    issuer != nil && authorization.contains(Self.dot)
  }

  private static let dot = UInt8(ascii: ".")

  private func find(
    bearing token: UnsafeRawBufferPointer, at now: () -> Instant
  ) throws(CallerError) -> Match {
    if issuer != nil, token.contains(Self.dot) {
      return try find(signedToken: String(decoding: token, as: UTF8.self), at: now)
    }
    let hash = TokenHash(of: token)
    var found: Caller?
    // Every entry is compared, so that the time does not reveal which one matches.
    for entry in tokens where entry.hash == hash { found = entry.caller }
    guard let found else { throw .unknownToken }
    return Match(caller: found, expiresAt: nil)
  }

  /// Returns the caller of a token that the issuer signed (RFC 7519), and no other token.
  ///
  /// - Throws: ``CallerError/badToken(reason:)`` if the token is not valid at this time; ``CallerError/unknownToken``
  ///   without an issuer; ``CallerError/unknownSubject(_:rolesClaim:)`` if the subject is not configured and the token
  ///   names no role.
  package func find(signedToken token: String, at now: () -> Instant) throws(CallerError) -> Match {
    guard let issuer else { throw .unknownToken }
    let claims = try issuer.claims(of: token, at: now())
    return Match(
      caller: try caller(claims, issuer.terms), expiresAt: claims.expiresAt, subject: claims.subject)
  }

  /// Returns the configured caller of a subject, or a caller with the roles in the token under a name that no
  /// configured caller has.
  private func caller(
    _ claims: TokenIssuer.Claims, _ terms: TokenIssuer.Terms
  ) throws(CallerError) -> Caller {
    if let known = subjects[OpaqueID(claims.subject)] { return known }
    guard !claims.roles.isEmpty else {
      throw .unknownSubject(claims.subject, rolesClaim: terms.rolesClaim)
    }
    return Caller(name: "subject:\(claims.subject)", roles: claims.roles, apps: nil)
  }

  /// Returns the token after `Bearer` (RFC 6750, section 2.1; the scheme is case-insensitive).
  private static func token(_ field: UnsafeRawBufferPointer) throws(CallerError) -> UnsafeRawBufferPointer {
    let scheme: StaticString = "bearer "
    guard field.count > scheme.utf8CodeUnitCount else { throw .notABearer }
    for index in 0..<scheme.utf8CodeUnitCount where field[index] | 0x20 != scheme.utf8Start[index] {
      throw .notABearer
    }
    return UnsafeRawBufferPointer(rebasing: field[scheme.utf8CodeUnitCount...])
  }
}

extension HeaderFields {
  /// Calls `body` with the value of the first `authorization` field, or with `nil` if there is none. The value is valid
  /// only during the call.
  package func withAuthorization(_ body: (UnsafeRawBufferPointer?) -> Void) {
    withFields { fields in
      for field in fields where field.name.count == 13 && field.name.equals("authorization") {
        return body(field.value)
      }
      body(nil)
    }
  }
}
