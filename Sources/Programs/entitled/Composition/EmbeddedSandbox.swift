internal import Configuration
internal import Logging
internal import NIOCore
internal import Platform
internal import Sandbox
internal import Transport

/// The embedded sandbox App Store, and where it listens.
struct EmbeddedSandbox: Worker {
  let name = "sandbox"
  let simulator: AppStoreSimulator
  let listener: Listener

  func run() async { await simulator.run() }

  /// Where the service finds it.
  var baseURL: String { "http://\(listener.address)" }

  /// Opens it; `nil` if it is not wanted.
  static func open(
    _ settings: ServeSettings, _ configuration: ServiceConfiguration, on group: any EventLoopGroup,
    logger: Logger
  ) async throws -> EmbeddedSandbox? {
    guard let address = settings.sandbox else { return nil }
    let simulator = try Startup.simulator(for: configuration, data: settings.data)
    do {
      let listener = try await Listener.listen(
        at: address, on: group, serving: Listeners.plain { await simulator.respond(to: $0) },
        logger: logger)
      let sandbox = EmbeddedSandbox(simulator: simulator, listener: listener)
      try await simulator.setBaseURL(sandbox.baseURL)
      return sandbox
    } catch {
      throw Failure("\(error)")
    }
  }
}
