internal import ArgumentParser
internal import Configuration
internal import CoreMetrics
internal import Logging
internal import ServiceLifecycle
internal import Telemetry
internal import Transport
internal import UnixSignals

/// `entitled serve`: the service.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Run the service.",
    discussion: "Each option can also be set by an environment variable: --grpc by ENTITLED_GRPC, and so on.")

  @Option(help: "Where gRPC is served (default: \(ServerOption.grpc.fallback)). Port 0 takes a free one.")
  var grpc: String?

  @Option(
    help: "Where the edge is served: JSON and health over HTTP (default: \(ServerOption.http.fallback)).")
  var http: String?

  @Option(
    help:
      "Where the embedded sandbox App Store is served, or 'off' (default: \(ServerOption.sandbox.fallback)).")
  var sandbox: String?

  @Option(help: "The directory of everything that is remembered (default: \(ServerOption.data.fallback)).")
  var data: String?
  @Option(
    name: .customLong("import"),
    help: "Where inputs of migration jobs are (default: import in the data directory).")
  var importFolder: String?

  @Option(help: "The configuration: a YAML file. Without one, a demo app is configured.")
  var config: String?

  @Option(help: "How many event loops serve connections (default: one for each core).")
  var threads: Int?

  @Option(help: "MiB in which each event loop remembers answers to Check (default: 96; 0: none).")
  var answerCache: Int?

  @Option(help: "Seconds between failing readiness and closing the ports after SIGTERM (default: 0).")
  var drainDelay: Int?

  @Flag(help: "Allow ports without TLS on addresses that other machines reach (ENTITLED_CLEARTEXT=true).")
  var cleartext = false

  func run() async throws {
    let sandboxText = ServerOption.sandbox.value(sandbox)
    let inherited = try InheritedSockets()
    let settings = ServeSettings(
      grpc: try inherited.grpc?.address ?? ServerOption.grpc.address(grpc),
      http: try inherited.http?.address ?? ServerOption.http.address(http), inherited: inherited,
      sandbox: sandboxText == "off" ? nil : try ServerOption.sandbox.address(sandbox),
      data: ServerOption.data.value(data),
      importFolder: importFolder ?? ServerOption.environment("ENTITLED_IMPORT")
        ?? "\(ServerOption.data.value(data))/import",
      configurationFile: config ?? ServerOption.environment("ENTITLED_CONFIG"),
      threads: try number(threads, flag: "threads", variable: "ENTITLED_THREADS", in: 1...256),
      answerCacheMiB: try number(
        answerCache, flag: "answer-cache", variable: "ENTITLED_ANSWER_CACHE", in: 0...65_536) ?? 96,
      drainSeconds: try number(
        drainDelay, flag: "drain-delay", variable: "ENTITLED_DRAIN_DELAY", in: 0...600) ?? 0,
      allowsCleartext: cleartext || ServerOption.environment("ENTITLED_CLEARTEXT") == "true")
    let configuration = try Startup.configuration(file: settings.configurationFile)
    try Logs.begin(configuration.log)
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

  private func number(
    _ given: Int?, flag: String, variable: String, in range: ClosedRange<Int>
  ) throws -> Int? {
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

/// What `entitled serve` was told.
struct ServeSettings: Sendable {
  let grpc: HostAndPort
  let http: HostAndPort
  /// Those of the two that are open already.
  let inherited: InheritedSockets
  /// `nil`: no sandbox.
  let sandbox: HostAndPort?
  let data: String
  /// From where migration jobs read.
  let importFolder: String
  let configurationFile: String?
  let threads: Int?
  /// For each event loop.
  let answerCacheMiB: Int
  let drainSeconds: Int
  let allowsCleartext: Bool

  /// Where the contract can be called.
  var addresses: [HostAndPort] { [grpc, http] }
}
