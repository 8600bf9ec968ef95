package import AppStore
internal import Bytes
package import HTTP
internal import SignedData

/// All who may call, and how to know them.
package struct CallerDirectory: Sendable {
  /// Who a credential belongs to.
  package struct Match: Sendable {
    package let caller: Caller
    /// Until when that is so; `nil`: until the operator says otherwise.
    package let until: Instant?
  }

  /// An identity provider; `nil`: only tokens that the operator gave out count.
  package let issuer: TokenIssuer?
  private let tokens: [(hash: TokenHash, caller: Caller)]
  private let subjects: [String: Caller]
  private let certificateNames: [String: Caller]

  /// The directory of `definitions`. Each caller begins with a full bucket.
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
      known.flatMap { definition, caller in definition.subjects.map { ($0, caller) } },
      uniquingKeysWith: { first, _ in first })
    certificateNames = Dictionary(
      known.flatMap { definition, caller in definition.certificateNames.map { ($0, caller) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Whose call that is: the token decides where there is one, else the certificate.
  ///
  /// `authorization` is the value of that field; `certificateNames` are those of a client certificate that the
  /// transport has verified.
  package func find(
    authorization: UnsafeRawBufferPointer?, certificateNames names: [String], at now: () -> Instant
  ) throws(CallerError) -> Match {
    if let authorization { return try find(bearing: try Self.token(authorization), at: now) }
    for name in names {
      if let caller = certificateNames[name] { return Match(caller: caller, until: nil) }
    }
    throw names.isEmpty ? .noCredential : .unknownCertificate
  }

  private func find(
    bearing token: UnsafeRawBufferPointer, at now: () -> Instant
  ) throws(CallerError) -> Match {
    if let issuer, token.contains(UInt8(ascii: ".")) {
      let statement = try issuer.statement(in: String(decoding: token, as: UTF8.self), at: now())
      return Match(caller: try caller(statement), until: statement.expiresAt)
    }
    let hash = TokenHash(of: token)
    var found: Caller?
    // All are looked at, so that the time tells nothing about where the right one stands.
    for entry in tokens where entry.hash == hash { found = entry.caller }
    guard let found else { throw .unknownToken }
    return Match(caller: found, until: nil)
  }

  /// A subject that the operator defined has the roles defined; another one those that the issuer says, and a
  /// name that no defined caller has.
  private func caller(_ statement: TokenIssuer.Statement) throws(CallerError) -> Caller {
    if let known = subjects[statement.subject] { return known }
    guard !statement.roles.isEmpty else { throw .unknownToken }
    return Caller(name: "subject:\(statement.subject)", roles: statement.roles, apps: nil)
  }

  /// What stands behind `Bearer` (RFC 6750, section 2.1; the scheme is case-insensitive).
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
  /// Lends the value of `authorization`; `nil` if there is none.
  package func withAuthorization(_ body: (UnsafeRawBufferPointer?) -> Void) {
    withFields { fields in
      for field in fields where field.name.count == 13 && field.name.equals("authorization") {
        return body(field.value)
      }
      body(nil)
    }
  }
}
