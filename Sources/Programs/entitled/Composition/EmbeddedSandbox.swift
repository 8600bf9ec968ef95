internal import CommandSupport
internal import Configuration
internal import HTTP
internal import Logging
internal import NIOCore
internal import Platform
internal import Sandbox
internal import SandboxCommands
internal import Transport

/// The sandbox that runs beside the service, with its listener.
struct EmbeddedSandbox: Worker {
  let name = "sandbox"
  let worlds: SandboxWorlds
  let listener: Listener

  /// The world at `/`, whose clock and certificates the service follows.
  var simulator: AppStoreSimulator { worlds.main }

  func run() async { await worlds.run() }

  /// The URL under which the service calls it.
  var baseURL: String { "http://\(listener.address)" }

  /// Opens the sandbox; returns `nil` if it is turned off.
  static func open(
    _ settings: ServeSettings, _ configuration: ServiceConfiguration, on group: any EventLoopGroup,
    maxConnections: Int, policy: OriginPolicy, logger: Logger
  ) async throws -> EmbeddedSandbox? {
    guard let address = settings.sandbox else { return nil }
    let storage = SandboxSettings(
      data: settings.data, start: settings.sandboxStart, targets: settings.sandboxTargets, keepsTime: true)
    let worlds = try storage.worlds(configuration)
    var service = SandboxListener.service(policy, worlds)
    service.threads = { _ in .shared }
    service.limits.connections = maxConnections
    do {
      let listener = try await Listener.listen(at: address, on: group, serving: service, logger: logger)
      let sandbox = EmbeddedSandbox(worlds: worlds, listener: listener)
      try await worlds.main.setBaseURL(sandbox.baseURL)
      return sandbox
    } catch {
      throw Failure("\(error)")
    }
  }
}
