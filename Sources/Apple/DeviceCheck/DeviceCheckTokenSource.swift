package import AppStore
internal import JSON
package import SignedData
internal import Synchronization

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
  /// Apple rejects tokens older than an hour, and asks not to make one more often than every 20 minutes.
  private static let lifetime: Int64 = 40 * 60_000

  private struct State {
    var credentials: DeviceCheckCredentials
    /// The number of replacements of the credentials.
    var generation = 0
    var issued: (token: String, at: Instant)?
  }

  private let now: @Sendable () -> Instant
  private let state: Mutex<State>

  package init(credentials: DeviceCheckCredentials, now: @escaping @Sendable () -> Instant) {
    state = Mutex(State(credentials: credentials))
    self.now = now
  }

  /// The team whose bits are read and set.
  var teamID: String { state.withLock { $0.credentials.teamID } }

  /// Returns the token for the next request's `Authorization: Bearer`.
  func token() throws(CryptographyError) -> String {
    let now = now()
    let current = state.withLock { $0 }
    if let issued = current.issued {
      let age = now.millisecondsSince1970 - issued.at.millisecondsSince1970
      if age >= 0, age < Self.lifetime { return issued.token }
    }
    let token = try current.credentials.signer.sign([
      "iss": .string(current.credentials.teamID), "iat": .number(JSONNumber(now.secondsSince1970)),
    ])
    // A token of credentials that were replaced meanwhile is used for this call only.
    state.withLock { if $0.generation == current.generation { $0.issued = (token, now) } }
    return token
  }

  /// Discards the token after Apple rejected it.
  func discard() { state.withLock { $0.issued = nil } }

  /// Signs with the credentials of `other` from the next call on.
  func adoptCredentials(of other: DeviceCheckTokenSource) {
    let credentials = other.state.withLock { $0.credentials }
    state.withLock { $0 = State(credentials: credentials, generation: $0.generation + 1) }
  }
}
