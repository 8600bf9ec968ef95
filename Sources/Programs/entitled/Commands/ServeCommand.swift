internal import AppStore
internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import CoreMetrics
internal import Foundation
internal import Logging
internal import NIOCore
internal import SandboxCommands
internal import ServiceLifecycle
internal import Store
internal import Telemetry
internal import Transport
internal import UnixSignals

/// `entitled serve`.
struct ServeCommand: AsyncParsableCommand, ServerCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Run the service.",
    discussion: "An option takes precedence over its environment variable, such as ENTITLED_GRPC for --grpc.")

  @Option(help: "gRPC address (default: \(ServerOption.grpc.fallback)). Port 0 selects a free port.")
  var grpc: String?

  @Option(help: "HTTP edge address: JSON, notifications, health (default: \(ServerOption.http.fallback)).")
  var http: String?

  @Option(help: "Sandbox address, or 'off' (default: \(ServerOption.sandbox.fallback)).")
  var sandbox: String?

  @Option(help: "Start time of a new sandbox, RFC 3339, not in the future (default: now).")
  var sandboxStart: String?

  @Option(help: "Console address, or 'off' (default: \(ServerOption.console.fallback)).")
  var console: String?

  @OptionGroup var exposure: SandboxExposure

  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).")
  var data: String?
  @Option(
    help: ArgumentHelp(
      "Store: sqlite:DIRECTORY or postgres://USER@HOST/DATABASE (default: the configuration's, or the data directory).",
      valueName: "address"))
  var store: String?
  @Option(help: "Name of this replica among those of one PostgreSQL database (default: the host name).")
  var replica: String?
  @Option(
    name: .customLong("import"),
    help: "Directory with inputs of migration jobs (default: import in the data directory).")
  var importFolder: String?

  @Option(help: "YAML configuration (default: the demo configuration).")
  var config: String?

  @Option(help: "Number of event loops (default: one for each core).")
  var threads: Int?

  @Option(help: "Cache for Check of each event loop, in MiB (default: 96; 0 turns it off).")
  var answerCache: Int?

  @Option(help: "Seconds after SIGTERM in which calls are still accepted (default: 0).")
  var drainDelay: Int?

  @Flag(help: "Allow cleartext on addresses that other machines can reach (default: false).")
  var cleartext = false

  func run() async throws {
    let sandboxText = ServerOption.sandbox.value(sandbox)
    let inherited = try InheritedSockets()
    let settings = ServeSettings(
      grpc: try inherited.grpc?.address ?? ServerOption.grpc.address(grpc),
      http: try inherited.http?.address ?? ServerOption.http.address(http), inherited: inherited,
      sandbox: sandboxText == "off" ? nil : try exposure.checked(ServerOption.sandbox.address(sandbox)),
      sandboxStart: try SandboxExposure.start(
        sandboxStart ?? ServerOption.environment("ENTITLED_SANDBOX_START"),
        option: "--sandbox-start (ENTITLED_SANDBOX_START)"),
      sandboxTargets: exposure.targets, sandboxHosts: exposure.hosts,
      console: ServerOption.console.value(console) == "off" ? nil : try ServerOption.console.address(console),
      data: ServerOption.data.value(data),
      store: store ?? ServerOption.environment("ENTITLED_STORE"),
      replica: ReplicaName(
        name: replica ?? ServerOption.environment("ENTITLED_REPLICA") ?? ProcessInfo.processInfo.hostName,
        address: ""),
      importFolder: importFolder ?? ServerOption.environment("ENTITLED_IMPORT")
        ?? "\(ServerOption.data.value(data))/import",
      configurationFile: config ?? ServerOption.environment("ENTITLED_CONFIG"),
      threads: try eventLoops(),
      answerCacheMiB: try number(
        answerCache, flag: "answer-cache", variable: "ENTITLED_ANSWER_CACHE", in: 0...65_536) ?? 96,
      drainSeconds: try number(
        drainDelay, flag: "drain-delay", variable: "ENTITLED_DRAIN_DELAY", in: 0...600) ?? 0,
      allowsCleartext: cleartext || ServerOption.environment("ENTITLED_CLEARTEXT") == "true")
    let configuration = try Startup.configuration(file: settings.configurationFile)
    try Logs.bootstrap(configuration.log)
    let metrics = MetricsRegistry(families: MetricCatalog.families)
    MetricsSystem.bootstrap(metrics)
    let logger = Logger(label: "entitled")
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(
            service: Server(
              settings: settings, configuration: configuration, metrics: metrics, logger: logger),
            successTerminationBehavior: .gracefullyShutdownGroup)
        ],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
  }

  func requireLimits() throws(Failure) {
    try Program.requireLimits(eventLoops: try eventLoops() ?? System.coreCount)
  }

  /// The number of event loops of each port; `nil` for one on each core.
  private func eventLoops() throws(Failure) -> Int? {
    try number(threads, flag: "threads", variable: "ENTITLED_THREADS", in: 1...256)
  }

  private func number(
    _ given: Int?, flag: String, variable: String, in range: ClosedRange<Int>
  ) throws(Failure) -> Int? {
    let text = given.map(String.init) ?? ServerOption.environment(variable)
    guard let text else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Failure(
        "--\(flag) (\(variable)) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'",
        status: 64)
    }
    return number
  }
}

/// The options of `entitled serve`.
struct ServeSettings: Sendable {
  let grpc: HostAndPort
  let http: HostAndPort
  /// The sockets that systemd opened; they replace ``grpc`` and ``http``.
  let inherited: InheritedSockets
  /// `nil` turns the sandbox off.
  let sandbox: HostAndPort?
  /// The simulated time at which a new sandbox begins; `nil` for the present.
  let sandboxStart: Instant?
  /// The hosts to which the sandbox sends, besides this machine and the configured ones.
  let sandboxTargets: [String]
  /// The host names under which clients reach the sandbox, besides `localhost` and the configured ones.
  let sandboxHosts: [String]
  /// `nil` turns the console off.
  let console: HostAndPort?
  let data: String
  /// The address of the store; `nil` for the configured one.
  let store: String?
  /// The name of this process among the replicas of one database.
  let replica: ReplicaName
  /// The directory with inputs of migration jobs.
  let importFolder: String
  let configurationFile: String?
  let threads: Int?
  /// The cache for `Check` of each event loop.
  let answerCacheMiB: Int
  let drainSeconds: Int
  let allowsCleartext: Bool

  /// The addresses on which the API is served.
  var addresses: [HostAndPort] { [grpc, http] }
}
