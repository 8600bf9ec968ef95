package import AppStore
internal import ArgumentParser
package import CommandSupport
package import Transport

/// The exposure of the sandbox to other machines, and the hosts to which it may send.
package struct SandboxExposure: ParsableArguments {
  package init() {}

  @Flag(help: "Allow the sandbox on addresses that other machines can reach (default: false).")
  var allowRemote = false

  @Option(help: "Host that the sandbox sends notifications to; repeatable (default: this machine only).")
  var allowTarget: [String] = []

  @Option(help: "Host name under which clients reach the sandbox; repeatable (default: localhost).")
  var allowHost: [String] = []

  /// The names that clients may use besides addresses and `localhost`.
  package var hosts: [String] { allowHost + Self.list("ENTITLED_ALLOW_HOST") }

  /// The allowed hosts besides this machine.
  package var targets: [String] { allowTarget + Self.list("ENTITLED_ALLOW_TARGET") }

  /// The values of an environment variable, separated by commas, and spaces if there are any.
  static func list(_ variable: String) -> [String] {
    (ServerOption.environment(variable) ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
  }

  /// The address, if the sandbox may listen at it.
  ///
  /// - Throws: ``Failure`` for an address beyond loopback without `--allow-remote`: the sandbox has no callers, so every
  ///   client that reaches it can buy, refund and advance its clock.
  package func checked(_ address: HostAndPort) throws(Failure) -> HostAndPort {
    let isAllowed = allowRemote || ServerOption.environment("ENTITLED_ALLOW_REMOTE") == "true"
    guard address.isLoopback || isAllowed else {
      throw Failure(
        "the sandbox at \(address) is reachable from other machines and serves every client; "
          + "set --allow-remote to allow it", status: 64)
    }
    return address
  }

  /// The time of an option that starts a new sandbox in the past; `nil` without the option.
  ///
  /// - Throws: ``Failure`` with exit status 64 for a time that is malformed, in the future, or before 1970, when the
  ///   certificates begin.
  package static func start(_ text: String?, option: String) throws(Failure) -> Instant? {
    guard let text else { return nil }
    guard let instant = Instant(rfc3339: text), instant.millisecondsSince1970 >= 0,
      instant <= SystemClock.now()
    else {
      throw Failure("\(option) takes a past time such as 2026-01-31T12:00:00Z, not '\(text)'", status: 64)
    }
    return instant
  }
}
