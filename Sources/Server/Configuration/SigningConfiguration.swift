/// Where an app's in-app purchase key lies, and what App Store Connect calls it.
package struct InAppPurchaseKey: Hashable, Sendable {
  /// The `.p8` file that App Store Connect gave; its owner alone may read it.
  package let path: String
  /// The key's id, ten letters and digits.
  package let keyID: String
  /// The issuer id, from the page of the keys.
  package let issuerID: String
}

/// Where a secret is found: never in the configuration itself.
package enum SecretSource: Hashable, Sendable {
  /// A file that its owner alone may read.
  case file(String)
  /// An environment variable.
  case variable(String)
}

/// How entitlement tokens are made.
package struct TokenConfiguration: Hashable, Sendable {
  /// The tokens' `iss`: where the service is reached, since checkers look for the keys there.
  package let issuer: String
  /// A directory of private keys in PEM. The newest one signs, all are published.
  package let keyDirectory: String
  /// How long a token lives if a request asks for nothing shorter.
  package let lifetimeSeconds: Int64
}
