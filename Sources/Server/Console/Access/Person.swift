internal import AppStore
package import Callers
internal import HTTP

/// A signed-in user of the console.
struct Person: Sendable {
  /// The name in the audit entries of the calls that the person's pages make.
  let name: String
  /// The roles, apps and rate limit of the person's calls.
  let caller: Caller

  /// Names the person among those of all callers.
  var key: String { "\(caller.name)/\(name)" }
}

/// The way in which people sign in to the console.
package enum ConsoleAccess: Sendable {
  /// With a link that the service prints at its start. Only for a listener that other machines cannot reach.
  case oneTimeLink(OneTimeLinks)
  /// With the signed token that an identity-aware proxy adds to each request in the header field of this name
  /// (lowercase). The policy has the token's issuer, and the configured callers by subject.
  case identityHeader(String, CurrentCallers)
}

extension Caller {
  /// The caller of people who signed in with a one-time link: they can read the files of the service anyway.
  static let console = Caller(name: "console", roles: [.admin], apps: nil)
}

extension Person {
  /// The person of the signed token in the field `name`. The roles are looked up for each request, so that a change of
  /// the configuration takes effect at once.
  init(
    header: HeaderFields, _ name: String, _ policy: CallerPolicy, at now: () -> Instant
  ) throws(CallerError) {
    try self.init(signedToken: try Self.signedToken(in: header, name), policy, at: now)
  }

  /// The signed token in the field `name`.
  static func signedToken(in header: HeaderFields, _ name: String) throws(CallerError) -> String {
    // A second field would leave open which one the proxy wrote.
    let values = header.strings.filter { $0.name == name }.map(\.value)
    guard values.count == 1 else { throw .noCredential }
    return values[0]
  }

  /// The person of a signed token.
  init(signedToken token: String, _ policy: CallerPolicy, at now: () -> Instant) throws(CallerError) {
    guard case .listed(let directory) = policy else { throw .unknownToken }
    let match = try directory.find(signedToken: token, at: now)
    self.init(name: match.subject ?? match.caller.name, caller: match.caller)
  }
}
