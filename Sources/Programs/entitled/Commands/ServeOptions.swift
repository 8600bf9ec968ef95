package import ArgumentParser
package import CommandSupport
internal import Configuration
internal import CoreMetrics
internal import Foundation
internal import Logging
internal import Platform
internal import Store
internal import Telemetry
internal import Transport

/// `entitled serve`, without the options of the sandbox: a program that has one adds them.
package struct ServeOptions: ParsableArguments {
  package static let command = CommandConfiguration(
    commandName: "serve", abstract: "Run the service.",
    discussion: "An option takes precedence over its environment variable, such as ENTITLED_GRPC for --grpc.")

  /// Options as the argument parser needs them before it reads the command line.
  package init() {}

  @Option(help: "gRPC address (default: \(ServerOption.grpc.fallback)). Port 0 selects a free port.")
  var grpc: String?

  @Option(help: "HTTP edge address: JSON, notifications, health (default: \(ServerOption.http.fallback)).")
  var http: String?

  @Option(help: "Console address, or 'off' (default: \(ServerOption.console.fallback)).")
  var console: String?

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

  @Option(help: "Number of event loops (default: one for each core that the process may use).")
  var threads: Int?

  @Option(help: "Cache for Check of each event loop, in MiB (default: 96; 0 turns it off).")
  var answerCache: Int?

  @Option(help: "Seconds after SIGTERM in which calls are still accepted (default: 0).")
  var drainDelay: Int?

  @Flag(help: "Allow cleartext on addresses that other machines can reach (default: false).")
  var cleartext = false

  /// Runs the service until a signal ends it, with the sandbox that `sandbox` opens; without one if it is `nil`.
  ///
  /// - Throws: ``Failure`` if an option or the configuration is wrong, or if the store or a listener cannot be opened.
  package func serve(with sandbox: (any SandboxEmbedding)?) async throws {
    let inherited = try InheritedSockets()
    let settings = ServeSettings(
      grpc: try inherited.grpc?.address ?? ServerOption.grpc.address(grpc),
      http: try inherited.http?.address ?? ServerOption.http.address(http), inherited: inherited,
      sandbox: sandbox,
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
    let server = Server(
      settings: settings, configuration: configuration, metrics: metrics, logger: Logger(label: "entitled"))
    try await TerminationSignals.trapped { try await server.run(until: $0) }
  }

  /// Raises the limit of open files, and checks that the process can start with the options' event loops.
  ///
  /// - Throws: the limit that is too low, with what to do.
  package func requireLimits() throws(Failure) {
    try Program.requireLimits(eventLoops: try eventLoops() ?? AvailableCores.count)
  }

  /// The number of event loops of each port; `nil` for one on each core that the process may use.
  private func eventLoops() throws(Failure) -> Int? {
    try number(threads, flag: "threads", variable: "ENTITLED_THREADS", in: 1...256)
  }

  /// An option or its environment variable as a number; `nil` if neither is set.
  ///
  /// - Throws: ``Failure`` with exit status 64 for a number that is not in `range`.
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

/// The options of `entitled serve` with their environment variables and defaults. They hold as long as the process, and
/// have the path of the file of a ``ServiceConfiguration``.
struct ServeSettings: Sendable {
  /// The address of the gRPC listener; port 0 selects a free one.
  let grpc: HostAndPort
  /// The address of the HTTP edge; port 0 selects a free one.
  let http: HostAndPort
  /// The sockets that systemd opened; they replace ``grpc`` and ``http``.
  let inherited: InheritedSockets
  /// `nil` without a sandbox.
  let sandbox: (any SandboxEmbedding)?
  /// `nil` turns the console off.
  let console: HostAndPort?
  /// The data directory.
  let data: String
  /// The address of the store; `nil` for the configured one.
  let store: String?
  /// The name of this process among the replicas of one database.
  let replica: ReplicaName
  /// The directory with inputs of migration jobs.
  let importFolder: String
  /// `nil` for the demo configuration.
  let configurationFile: String?
  /// The number of event loops of each port; `nil` for one on each core.
  let threads: Int?
  /// The cache for `Check` of each event loop.
  let answerCacheMiB: Int
  /// The time after SIGTERM in which calls are still accepted.
  let drainSeconds: Int
  /// Whether listeners without TLS may be reachable from other machines.
  let allowsCleartext: Bool

  /// The addresses on which the API is served.
  var addresses: [HostAndPort] { [grpc, http] }
}
