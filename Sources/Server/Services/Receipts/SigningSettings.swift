package import SignedData
internal import Synchronization

/// The configured signing keys and their settings.
package struct SigningSettings: Sendable {
  /// By app id; apps without a key are absent.
  package let offers: OfferKeys
  /// `nil` if entitlement tokens are turned off.
  package let tokens: TokenSettings?

  /// Creates settings from their parts.
  package init(offers: [String: OfferSettings] = [:], tokens: TokenSettings? = nil) {
    self.offers = OfferKeys(offers)
    self.tokens = tokens
  }
}

/// The offer settings by app id. A reload replaces them.
package final class OfferKeys: Sendable {
  private let settings: Mutex<[String: OfferSettings]>

  /// Starts with `settings`.
  package init(_ settings: [String: OfferSettings]) { self.settings = Mutex(settings) }

  /// The settings of an app; `nil` if it has no key.
  package subscript(appID: String) -> OfferSettings? { settings.withLock { $0[appID] } }

  /// Puts other keys in force.
  package func replace(with settings: [String: OfferSettings]) { self.settings.withLock { $0 = settings } }
}

/// The settings of one app's offer signatures.
package struct OfferSettings: Sendable {
  /// Signs promotional and introductory offers with the app's key.
  package var signer: OfferSigner
  /// Whether the customer's history must allow an offer. A request can skip this check.
  package var checksEligibility: Bool

  /// Creates settings from their parts.
  package init(signer: OfferSigner, checksEligibility: Bool) {
    self.signer = signer
    self.checksEligibility = checksEligibility
  }
}

/// The settings of entitlement tokens.
package struct TokenSettings: Sendable {
  /// The keys of entitlement tokens; a reload replaces them.
  package var keys: TokenKeys
  /// The tokens' `iss`.
  package var issuer: String
  /// The maximum lifetime of a token in milliseconds.
  package var lifetimeMilliseconds: Int64

  /// Creates settings from their parts.
  package init(keys: TokenKeys, issuer: String, lifetimeMilliseconds: Int64) {
    self.keys = keys
    self.issuer = issuer
    self.lifetimeMilliseconds = lifetimeMilliseconds
  }
}
