package import SignedData

/// What the services sign with, as the operator configured it.
package struct SigningSettings: Sendable {
  /// By the operator's name of the app; apps without a key are not there.
  package var offers: [String: OfferSettings]
  /// `nil`: no entitlement tokens are made.
  package var tokens: TokenSettings?

  /// A setup by its parts.
  package init(offers: [String: OfferSettings] = [:], tokens: TokenSettings? = nil) {
    self.offers = offers
    self.tokens = tokens
  }
}

/// How one app's offers are signed.
package struct OfferSettings: Sendable {
  package var signer: OfferSigner
  /// Whether the customer's history has to allow an offer; a request can ask to leave that out.
  package var checksEligibility: Bool

  /// A setup by its parts.
  package init(signer: OfferSigner, checksEligibility: Bool) {
    self.signer = signer
    self.checksEligibility = checksEligibility
  }
}

/// How entitlement tokens are made.
package struct TokenSettings: Sendable {
  package var keys: TokenKeys
  /// The tokens' `iss`.
  package var issuer: String
  /// How long a token lives at most, in milliseconds.
  package var lifetimeMilliseconds: Int64

  /// A setup by its parts.
  package init(keys: TokenKeys, issuer: String, lifetimeMilliseconds: Int64) {
    self.keys = keys
    self.issuer = issuer
    self.lifetimeMilliseconds = lifetimeMilliseconds
  }
}
