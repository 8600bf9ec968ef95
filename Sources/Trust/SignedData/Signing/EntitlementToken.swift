package import AppStore
internal import JSON

/// The claims of an entitlement token: a short-lived statement that other services verify offline.
package struct EntitlementToken: Hashable, Sendable {
  /// `iss`: the address of this service.
  package var issuer: String
  /// `sub`: the operator's id of the customer.
  package var customerID: String
  /// `aud`: the service that verifies the token.
  package var audience: String
  /// The operator's name for the app.
  package var appID: String
  /// The environment of the purchases.
  package var environment: Environment
  /// The customer's entitlements until the token expires.
  package var entitlements: [String]
  /// `iat`.
  package var issuedAt: Instant
  /// `exp`. Exclusive; services that verify the token offline refuse it from then on.
  package var expiresAt: Instant

  package init(
    issuer: String, customerID: String, audience: String, appID: String, environment: Environment,
    entitlements: [String], issuedAt: Instant, expiresAt: Instant
  ) {
    self.issuer = issuer
    self.customerID = customerID
    self.audience = audience
    self.appID = appID
    self.environment = environment
    self.entitlements = entitlements
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
  }

  /// The audience of the tokens that device sync issues for an app.
  package static func deviceAudience(of appID: String) -> String { "\(appID)/device" }

  /// Returns the token as a JWT. Times are whole seconds, rounded down.
  ///
  /// - Throws: ``CryptographyError`` if OpenSSL cannot sign.
  package func signed(by signer: JWTSigner) throws(CryptographyError) -> String {
    try signer.sign([
      "iss": .string(issuer), "sub": .string(customerID), "aud": .string(audience),
      "iat": .number(JSONNumber(issuedAt.secondsSince1970)),
      "exp": .number(JSONNumber(expiresAt.secondsSince1970)),
      "jti": .string(Nonce.random().description), "app": .string(appID),
      "environment": .string(environment.rawValue),
      "entitlements": .array(entitlements.map(JSONValue.string)),
    ])
  }
}
