internal import Callers
internal import CommandSupport
internal import Configuration
internal import Console
internal import HTTP
internal import Logging
internal import Services
internal import SignedData
internal import Transport

/// The console and the ways in which people sign in to it.
struct ConsoleComponents: Sendable {
  /// `nil` if the console is turned off.
  let site: Console?
  /// The keys of the proxy's identity provider; it has none to fetch without such a proxy.
  let keys: JWKSRefresher
  private let access: ConsoleAccess?

  /// - Throws: ``Failure`` if other machines can reach the console and no proxy signs people in.
  init(
    _ configuration: ServiceConfiguration, _ settings: ServeSettings, key: InstallationKey,
    calls: InProcessCalls, hosts: OriginPolicy, logger: Logger
  ) throws {
    keys = JWKSRefresher(name: "console_jwks", logger: logger)
    access = try Startup.consoleAccess(configuration, settings, key: key, jwks: keys)
    site = access.map { Console(calls: calls, $0, configuration.listeners.console, hosts: hosts) }
  }

  /// The codes that sign in; `nil` unless only this machine can reach the console.
  var links: OneTimeLinks? { access?.links }

  /// The callers behind a proxy, with the proxy's issuer; `nil` without a proxy.
  var callers: CurrentCallers? { access?.callers }
}

extension Console {
  fileprivate init(
    calls: InProcessCalls, _ access: ConsoleAccess, _ configuration: ConsoleConfiguration, hosts: OriginPolicy
  ) {
    self.init(
      calls: calls, access: access, hosts: hosts,
      pages: AddressLimiter(perSecond: Console.pagesPerSecond, ticks: SystemClock.ticks),
      invalidTokens: .ofInvalidTokens(ticks: SystemClock.ticks),
      isSecure: configuration.listener.tls != nil, links: OperatorLinks(configuration.links),
      now: SystemClock.now)
  }
}
