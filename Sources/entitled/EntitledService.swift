internal import Configuration
internal import Entitlements
internal import Ledger
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import RPC
internal import SQLiteStore
internal import Sandbox
internal import ServiceLifecycle
internal import Services
internal import Store
internal import Transport
internal import Wire

/// The running service: everything wired together, from the store to the listeners, and taken down in
/// the opposite order.
struct EntitledService: ServiceLifecycle.Service {
  let settings: ServeSettings
  let logger: Logger

  func run() async throws {
    let configuration = try Startup.configuration(file: settings.configurationFile)
    let store = try Startup.store(in: settings.data)
    do {
      try await serve(configuration, store)
      await store.close()
    } catch {
      await store.close()
      throw error
    }
  }

  private func serve(_ configuration: ServiceConfiguration, _ store: any EntitlementStore) async throws {
    let simulator =
      settings.sandbox == nil ? nil : try Startup.simulator(for: configuration, data: settings.data)
    let services = try Startup.services(
      configuration, store, sandbox: simulator, answerCacheBytes: settings.answerCacheMiB << 20)
    let group =
      settings.threads.map(MultiThreadedEventLoopGroup.init(numberOfThreads:)) ?? .singleton
    let listeners = try await Listeners.open(
      settings, on: group, services: services, simulator: simulator, logger: logger)
    services.health.setAll(.serving)
    Announcement(listeners: listeners, data: settings.data).print()

    await withTaskGroup(of: Void.self) { group in
      group.addTask { await services.run { logger.error("\($0)") } }
      let reload = Reload(
        services: services, configurationFile: settings.configurationFile, logger: logger)
      group.addTask { await reload.run() }
      if let simulator { group.addTask { await simulator.run() } }
      try? await gracefulShutdown()
      group.cancelAll()
    }
    services.health.setAll(.notServing)
    services.endStreams()
    await listeners.shutDown()
  }
}
