package import AppStore

/// The environments that one clock governs. An embedded sandbox has a separate clock, which testers turn; it must not
/// move the other environments.
package enum ClockDomain: Hashable, Sendable {
  /// All environments, without an embedded sandbox.
  case all
  /// Apple's environment `Sandbox`, which the embedded sandbox plays.
  case sandbox
  /// All others: they follow the machine's clock.
  case others

  /// Whether the clock governs an environment.
  package func contains(_ environment: Environment) -> Bool {
    switch self {
    case .all: true
    case .sandbox: environment == .sandbox
    case .others: environment != .sandbox
    }
  }
}
