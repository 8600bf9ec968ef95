internal import Callers
internal import CommandSupport
internal import Configuration
internal import Console
internal import SignedData
internal import Transport

// The ways in which people sign in to the console.
extension Startup {
  /// The access to the console; `nil` if it is turned off.
  ///
  /// - Throws: ``Failure`` if other machines can reach it and no proxy signs people in.
  static func consoleAccess(
    _ configuration: ServiceConfiguration, _ settings: ServeSettings, key: InstallationKey,
    jwks: JWKSRefresher
  ) throws -> ConsoleAccess? {
    guard let address = settings.console else { return nil }
    if let identity = configuration.listeners.console.identity {
      return .identityHeader(
        identity.header, CurrentCallers(try consoleCallers(configuration, identity, jwks)))
    }
    guard address.isLoopback else {
      throw Failure(
        "the console at \(address) is reachable from other machines; set listeners.console.identity to the "
          + "identity-aware proxy before it, or choose an address of this machine")
    }
    return .oneTimeLink(OneTimeLinks(installation: key))
  }

  /// The configured callers, found by the tokens of the proxy.
  static func consoleCallers(
    _ configuration: ServiceConfiguration, _ identity: ConsoleIdentity, _ jwks: JWKSRefresher
  ) throws -> CallerPolicy {
    let definitions: [CallerDefinition] =
      if case .listed(let definitions) = configuration.callers { definitions } else { [] }
    return .listed(CallerDirectory(definitions, issuer: try tokenIssuer(identity.issuer, jwks)))
  }
}

extension Application {
  /// Adopts the callers of a reloaded configuration for the console.
  func reloadConsoleCallers(_ configuration: ServiceConfiguration) throws {
    guard let callers = console.callers, let identity = configuration.listeners.console.identity else {
      return
    }
    callers.replace(with: try Startup.consoleCallers(configuration, identity, console.keys))
  }
}

extension OperatorLinks {
  init(_ links: ConsoleLinks) {
    self.init(grafana: links.grafana, customer: links.customer, ticket: links.ticket)
  }
}

extension ConsoleAccess {
  /// The codes that sign in, if there are any.
  var links: OneTimeLinks? { if case .oneTimeLink(let links) = self { links } else { nil } }

  /// The callers behind a proxy, if there is one.
  var callers: CurrentCallers? { if case .identityHeader(_, let callers) = self { callers } else { nil } }
}

extension OneTimeLinks {
  /// The codes of an installation from now on.
  convenience init(installation key: InstallationKey) {
    self.init(key: key.derived(for: "console links"), start: SystemClock.now())
  }

  /// A link that signs in once. `isSecure`: the listener has TLS.
  func link(at address: HostAndPort, isSecure: Bool) -> String {
    "\(isSecure ? "https" : "http")://\(address)\(Self.path)?code=\(makeCode(at: SystemClock.now()))"
  }
}
