package import AppStore
internal import JSON

/// What an entitlement token says: a short-lived statement that other services check without asking.
package struct EntitlementToken: Hashable, Sendable {
  /// `iss`: where the service that says so is reached.
  package var issuer: String
  /// `sub`: the operator's id of the customer.
  package var customerID: String
  /// `aud`: who is meant to check it.
  package var audience: String
  /// The operator's name for the app.
  package var appID: String
  /// Where the purchases are from.
  package var environment: Environment
  /// What the customer is entitled to until the token expires.
  package var entitlements: [String]
  package var issuedAt: Instant
  package var expiresAt: Instant

  /// A token by its parts.
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

  /// The token as a JWT. Its times are whole seconds, rounded down.
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
