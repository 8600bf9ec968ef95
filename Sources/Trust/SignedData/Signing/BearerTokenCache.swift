package import AppStore
internal import Synchronization

/// Reuses the bearer token of an API for a time, as Apple asks of its callers, and replaces the credentials that sign it.
package final class BearerTokenCache<Credentials: Sendable>: Sendable {
  /// The credentials and the token that they signed last.
  private struct State {
    var credentials: Credentials
    /// The number of replacements of the credentials.
    var generation = 0
    /// The last token that these credentials signed.
    var issued: (token: String, at: Instant)?
  }

  private let maxAge: Int64
  private let now: @Sendable () -> Instant
  private let state: Mutex<State>

  /// A cache whose tokens are reused until they are `maxAge` milliseconds old.
  package init(credentials: Credentials, maxAge: Int64, now: @escaping @Sendable () -> Instant) {
    self.maxAge = maxAge
    self.now = now
    state = Mutex(State(credentials: credentials))
  }

  /// The credentials that sign the next token.
  package var credentials: Credentials { state.withLock { $0.credentials } }

  /// Returns the token for the next request's `Authorization: Bearer`; `sign` makes one if the last is too old, or
  /// from the future after the clock was set back.
  ///
  /// - Throws: ``CryptographyError`` if OpenSSL cannot sign.
  package func token(
    _ sign: (Credentials, Instant) throws(CryptographyError) -> String
  ) throws(CryptographyError) -> String {
    let now = now()
    let current = state.withLock { $0 }
    if let issued = current.issued {
      let age = now.millisecondsSince1970 - issued.at.millisecondsSince1970
      if age >= 0, age < maxAge { return issued.token }
    }
    // Two concurrent callers may each sign a token: the lock is not held while signing, and both are valid.
    let token = try sign(current.credentials, now)
    // A token of credentials that were replaced meanwhile is used for this call only.
    state.withLock { if $0.generation == current.generation { $0.issued = (token, now) } }
    return token
  }

  /// Discards the token after Apple rejected it.
  package func discard() { state.withLock { $0.issued = nil } }

  /// Signs with the credentials of `other` from the next call on.
  package func adoptCredentials(of other: BearerTokenCache) {
    let credentials = other.credentials
    state.withLock { $0 = State(credentials: credentials, generation: $0.generation + 1) }
  }
}
