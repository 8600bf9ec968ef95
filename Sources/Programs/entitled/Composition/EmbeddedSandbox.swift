internal import AppStore
internal import Configuration
internal import Foundation
internal import HTTP
internal import Logging
internal import NIOCore
internal import Platform
internal import Sandbox
internal import Transport

/// The sandbox that runs beside the service, with its listener.
struct EmbeddedSandbox: Worker {
  let name = "sandbox"
  let simulator: AppStoreSimulator
  let listener: Listener

  func run() async { await simulator.run() }

  /// The URL under which the service calls it.
  var baseURL: String { "http://\(listener.address)" }

  /// Opens the sandbox; returns `nil` if it is turned off.
  static func open(
    _ settings: ServeSettings, _ configuration: ServiceConfiguration, on group: any EventLoopGroup,
    maxConnections: Int, policy: OriginPolicy, logger: Logger
  ) async throws -> EmbeddedSandbox? {
    guard let address = settings.sandbox else { return nil }
    let simulator = try Startup.simulator(
      for: configuration, data: settings.data, start: settings.sandboxStart,
      targets: settings.sandboxTargets)
    var service = Listeners.sandbox(policy, simulator)
    service.threads = { _ in .shared }
    service.limits.connections = maxConnections
    do {
      let listener = try await Listener.listen(at: address, on: group, serving: service, logger: logger)
      let sandbox = EmbeddedSandbox(simulator: simulator, listener: listener)
      try await simulator.setBaseURL(sandbox.baseURL)
      return sandbox
    } catch {
      throw Failure("\(error)")
    }
  }
}

/// The clocks of the operating system. No other code reads them; components receive the time.
enum SystemClock {
  static let now: @Sendable () -> Instant = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(
      millisecondsSince1970: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Nanoseconds of the monotonic clock.
  static let ticks: @Sendable () -> Int64 = {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
