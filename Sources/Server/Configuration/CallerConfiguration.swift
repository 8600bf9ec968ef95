package import Callers

/// Who may call, as the operator says.
package enum CallerConfiguration: Hashable, Sendable {
  /// Nothing is said: everybody, as long as only this machine can reach the service.
  case unspecified
  /// Everybody, from wherever.
  case open
  /// Those that are listed.
  case listed([CallerDefinition])
}

/// An identity provider whose tokens are believed.
package struct TokenIssuerConfiguration: Hashable, Sendable {
  /// What its tokens must say.
  package let terms: TokenIssuer.Terms
  /// Where its keys are found.
  package let keys: KeySource

  /// Where a JSON Web Key Set is.
  package enum KeySource: Hashable, Sendable {
    case file(String)
    /// An address that begins with `https://` (or `http://` for this machine).
    case url(String)
  }
}
