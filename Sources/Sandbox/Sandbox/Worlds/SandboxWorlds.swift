internal import AppStore
package import SandboxPaths

/// The worlds of one process: App Stores with their own accounts, clock, faults and journal, under one root certificate.
///
/// The world at `/` is that of the process's storage. A named one is at `/w/NAME`, is created by its first request, and is
/// kept in memory until it is removed or the process ends.
package actor SandboxWorlds {
  /// The world at `/`.
  package nonisolated let main: AppStoreSimulator
  /// The catalog and the settings of a new world, unless its creation has others.
  nonisolated let catalog: SandboxCatalog
  /// The maximum number of named worlds.
  nonisolated let limit: Int
  /// The root of the TLS certificates of the process, in PEM; `nil` without TLS.
  nonisolated let tlsRoot: String?
  private let poster: (any NotificationPoster)?
  private var named: [WorldName: NamedWorld] = [:]

  /// A world with the task in which its time passes.
  private struct NamedWorld {
    let simulator: AppStoreSimulator
    /// Lets its time pass and delivers its notifications.
    let running: Task<Void, Never>
  }

  /// A limit for tests in parallel; a world without accounts takes about 100 kB.
  package static let defaultLimit = 256

  /// Creates the worlds of a process; `poster` sends the notifications of named worlds.
  package init(
    main: AppStoreSimulator, catalog: SandboxCatalog, limit: Int = defaultLimit, tlsRoot: String? = nil,
    poster: (any NotificationPoster)? = nil
  ) {
    self.main = main
    self.catalog = catalog
    self.limit = limit
    self.tlsRoot = tlsRoot
    self.poster = poster
  }

  /// Lets the time of all worlds pass and delivers their notifications until the task is cancelled.
  package func run() async {
    await main.run()
    for world in named.values { world.running.cancel() }
    for world in named.values { await world.running.value }
  }

  /// The world with this name, which is created if it does not exist; `nil` is the world at `/`. A test may so use a
  /// world without creating it.
  ///
  /// - Throws: ``WorldError/tooMany(limit:)``, ``WorldError/failed(_:)``.
  package func world(_ name: WorldName?) throws(WorldError) -> AppStoreSimulator {
    guard let name else { return main }
    if let world = named[name] { return world.simulator }
    return try create(name, catalog, start: nil)
  }

  /// The world with this name; `nil` if it does not exist.
  func existing(_ name: WorldName) -> AppStoreSimulator? { named[name]?.simulator }

  /// Whether a world has this name. No other site may create one, not even by a link or an image.
  package func exists(_ name: WorldName) -> Bool { named[name] != nil }

  /// The names of all worlds but the one at `/`, in order.
  var names: [WorldName] { named.keys.sorted() }

  /// Creates a world.
  ///
  /// - start: the simulated time at which it begins; `nil` is the machine's time.
  /// - Throws: ``WorldError/exists(_:)``, ``WorldError/tooMany(limit:)``, ``WorldError/failed(_:)``.
  func create(
    _ name: WorldName, _ catalog: SandboxCatalog, start: Instant?
  ) throws(WorldError) -> AppStoreSimulator {
    guard named[name] == nil else { throw .exists(name) }
    guard named.count < limit else { throw .tooMany(limit: limit) }
    let clock = main.clock
    let simulator: AppStoreSimulator
    do throws(SandboxError) {
      simulator = try AppStoreSimulator(
        apps: catalog.apps, settings: catalog.settings, storage: .memory(besides: main),
        now: { clock.machineNow() }, origin: .next(at: clock.machineNow()), start: start, poster: poster)
    } catch { throw .failed(error) }
    named[name] = NamedWorld(simulator: simulator, running: Task { await simulator.run() })
    return simulator
  }

  /// A name that no world has; `nil` never occurs, because there are more names than worlds.
  func unusedName() -> WorldName? {
    (1...limit + 1).lazy.compactMap { WorldName("world-\($0)") }.first { named[$0] == nil }
  }

  /// Removes a world with everything in it. A delivery in flight is aborted.
  func remove(_ name: WorldName) async throws(WorldError) {
    guard let world = named.removeValue(forKey: name) else { throw .unknown(name) }
    world.running.cancel()
    await world.running.value
  }
}

/// The products of a world, and the settings with which it begins.
package struct SandboxCatalog: Hashable, Sendable {
  /// The apps with their products.
  package let apps: [SandboxApp]
  /// The actions that a new world performs first.
  package let settings: [PresetAction]

  package init(apps: [SandboxApp], settings: [PresetAction] = []) {
    self.apps = apps
    self.settings = settings
  }
}

/// The reason why a world cannot be created, found or removed.
package enum WorldError: Error, Sendable {
  /// The text is no name of a world.
  case invalidName(String)
  /// No world has the name.
  case unknown(WorldName)
  /// A world has the name already.
  case exists(WorldName)
  /// The process has as many worlds as the operator allows.
  case tooMany(limit: Int)
  /// The simulator could not be created or restored.
  case failed(SandboxError)
}
