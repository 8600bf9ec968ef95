package import AppStore
internal import JSON
package import SignedData

/// A DeviceCheck key of the developer account, with the team that it belongs to.
package struct DeviceCheckCredentials: Sendable {
  /// The team id of the developer account: ten letters and digits.
  package let teamID: String
  let signer: JWTSigner

  /// Credentials whose `signer` is named by the id of the key.
  package init(teamID: String, signer: JWTSigner) {
    self.teamID = teamID
    self.signer = signer
  }
}

/// Provides the bearer tokens of DeviceCheck, which are those of Apple's push notifications: the claims `iss` with the
/// team id and `iat` ("Establishing a token-based connection to APNs").
package final class DeviceCheckTokenSource: Sendable {
  /// In milliseconds. Apple rejects tokens older than an hour, and asks not to make one more often than every 20
  /// minutes.
  private static let maxAge: Int64 = 40 * 60_000

  private let cache: BearerTokenCache<DeviceCheckCredentials>

  /// Tokens that `credentials` sign.
  package init(credentials: DeviceCheckCredentials, now: @escaping @Sendable () -> Instant) {
    cache = BearerTokenCache(credentials: credentials, maxAge: Self.maxAge, now: now)
  }

  /// The team whose bits are read and set.
  var teamID: String { cache.credentials.teamID }

  /// Returns the token for the next request's `Authorization: Bearer`.
  func token() throws(CryptographyError) -> String {
    try cache.token { credentials, now throws(CryptographyError) in
      try credentials.signer.sign([
        "iss": .string(credentials.teamID), "iat": .number(JSONNumber(now.secondsSince1970)),
      ])
    }
  }

  /// Discards the token after Apple rejected it.
  func discard() { cache.discard() }

  /// Signs with the credentials of `other` from the next call on.
  func adoptCredentials(of other: DeviceCheckTokenSource) { cache.adoptCredentials(of: other.cache) }
}
