internal import AppStore
internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import Foundation
internal import HTTP
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Platform
internal import Sandbox
internal import Transport

/// `entitled sandbox serve`: the sandbox without the service.
struct SandboxServeCommand: AsyncParsableCommand, ServerCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Run only the sandbox.",
    discussion:
      "A service accepts its documents only with its root among the trusted roots: GET /sandbox/v1/root.")

  @Option(help: "Listener address (default: \(ServerOption.sandbox.fallback)). Port 0 selects a free port.")
  var sandbox: String?
  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).")
  var data: String?
  @Flag(help: "Keep the state only in memory.") var inMemory = false
  @Option(help: "YAML configuration (default: ENTITLED_CONFIG, or the demo configuration).") var config:
    String?
  @OptionGroup var storekit: StoreKitOptions
  @OptionGroup var exposure: SandboxExposure
  @OptionGroup var tls: SandboxTLSOptions
  @Option(help: "Maximum number of named worlds (default: \(SandboxWorlds.defaultLimit)).")
  var maxWorlds: Int?
  @Option(help: "Start time of a new sandbox, RFC 3339, not in the future (default: now).") var start: String?

  func requireLimits() throws(Failure) { try Program.requireLimits(eventLoops: AvailableCores.count) }

  func run() async throws {
    let logger = Logger(label: "entitled.sandbox")
    let configuration = try configurationFile()
    if inMemory, data != nil { throw Failure("--data and --in-memory exclude each other", status: 64) }
    let directory = inMemory ? nil : ServerOption.data.value(data)
    if let directory { try makeDirectory(directory) }
    let address = try exposure.checked(ServerOption.sandbox.address(sandbox))
    let tls = try tls.listener(exposure, data: directory)
    var settings = SandboxSettings(
      data: directory, start: try SandboxExposure.start(start, option: "--start"), targets: exposure.targets,
      keepsTime: false)
    settings.imported = try importedCatalog()
    settings.tlsRoot = tls?.root
    if let maxWorlds {
      guard (0...100_000).contains(maxWorlds) else {
        throw Failure("--max-worlds takes a number from 0 to 100000, not \(maxWorlds)", status: 64)
      }
      settings.maxWorlds = maxWorlds
    }
    let service = SandboxService(
      address: address, tls: tls, worlds: try settings.worlds(configuration),
      policy: SandboxListener.policy(
        configuration.listeners, hosts: exposure.hosts + (tls?.names ?? []), address: address),
      logger: logger)
    try await TerminationSignals.trapped { try await service.run(until: $0) }
  }

  private func configurationFile() throws(Failure) -> ServiceConfiguration {
    let file = config ?? ServerOption.environment("ENTITLED_CONFIG")
    do throws(ConfigurationError) { return try ServiceConfiguration.load(path: file) } catch {
      throw Failure(error.description)
    }
  }

  /// The catalog of `--storekit`; prints what it does not have on the standard error.
  private func importedCatalog() throws(Failure) -> StoreKitImport? {
    guard let imported = try storekit.read() else { return nil }
    for line in imported.notImported {
      FileHandle.standardError.write(Data("not imported: \(line)\n".utf8))
    }
    return imported
  }

  /// Creates the directory for this user alone.
  private func makeDirectory(_ path: String) throws(Failure) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Failure("cannot create '\(path)': \(error.localizedDescription)")
    }
  }
}

/// Serves the sandbox until a signal ends it. It prints one line with its addresses when it is ready.
struct SandboxService {
  let address: HostAndPort
  /// `nil` without TLS.
  let tls: SandboxTLSListener?
  let worlds: SandboxWorlds
  let policy: OriginPolicy
  let logger: Logger
  private let loops = MultiThreadedEventLoopGroup(numberOfThreads: AvailableCores.count)

  func run(until termination: TerminationSignals) async throws {
    var listeners: [Listener] = []
    var ready = "ready"
    do {
      let service = SandboxListener.service(policy, worlds)
      let plain = try await listen(at: address, service)
      try await worlds.main.setBaseURL("http://\(plain.address)")
      listeners.append(plain)
      ready += " sandbox=\(plain.address)"
      if let tls {
        var secure = service
        secure.tls = tls.identity
        listeners.append(try await listen(at: tls.address, secure))
        ready += " tls=\(listeners[1].address)"
      }
    } catch {
      throw Failure("\(error)")
    }
    logger.info("started", metadata: ["version": "\(Version.current)"])
    print(ready)
    fflush(nil)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await worlds.run() }
      await termination.wait()
      group.cancelAll()
    }
    for listener in listeners { await listener.shutDown(grace: .seconds(5)) }
  }

  private func listen(at address: HostAndPort, _ service: Listener.Service) async throws -> Listener {
    try await Listener.listen(at: address, on: loops, serving: service, logger: logger)
  }
}
