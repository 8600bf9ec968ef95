internal import ArgumentParser
internal import Transport

/// What other machines may do with the sandbox, and it with them.
struct SandboxExposure: ParsableArguments {
  @Flag(help: "Allow the sandbox on addresses that other machines can reach (default: false).")
  var allowRemote = false

  @Option(help: "Host that the sandbox sends notifications to; repeatable (default: this machine only).")
  var allowTarget: [String] = []

  /// The allowed hosts besides this machine.
  var targets: [String] {
    allowTarget
      + (ServerOption.environment("ENTITLED_ALLOW_TARGET") ?? "").split(separator: ",").map(String.init)
  }

  /// The address, if the sandbox may listen at it.
  ///
  /// - Throws: ``Failure`` for an address beyond loopback without `--allow-remote`: the sandbox has no callers, so every
  ///   client that reaches it can buy, refund and advance its clock.
  func checked(_ address: HostAndPort) throws -> HostAndPort {
    let isAllowed = allowRemote || ServerOption.environment("ENTITLED_ALLOW_REMOTE") == "true"
    guard address.isLoopback || isAllowed else {
      throw Failure(
        "the sandbox at \(address) is reachable from other machines and serves every client; "
          + "set --allow-remote to allow it", status: 64)
    }
    return address
  }
}
