internal import AppStore
internal import ArgumentParser
internal import Configuration
internal import EntitledClient
internal import Foundation
internal import HTTP
internal import JSON
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Sandbox
internal import ServiceLifecycle
internal import SignedData
internal import Transport
internal import UnixSignals

/// `entitled sandbox`: the App Store simulator.
struct SandboxCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sandbox", abstract: "Run the sandbox, an App Store simulator, and use it.",
    subcommands: [
      SandboxServeCommand.self, SandboxBuyCommand.self, SandboxDoCommand.self, SandboxAdvanceCommand.self,
      SandboxScenarioCommand.self, SandboxReportCommand.self,
    ],
    defaultSubcommand: SandboxServeCommand.self)
}

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

  @OptionGroup var exposure: SandboxExposure

  @Option(help: "Start time of a new sandbox, RFC 3339, not in the future (default: now).") var start: String?

  func requireLimits() throws(Failure) { try Startup.requireLimits(eventLoops: System.coreCount) }

  func run() async throws {
    let logger = Logger(label: "entitled.sandbox")
    let start = try SandboxExposure.start(start, option: "--start")
    let configuration = try Startup.configuration(file: config ?? ServerOption.environment("ENTITLED_CONFIG"))
    if inMemory, data != nil { throw Failure("--data and --in-memory exclude each other", status: 64) }
    let data = inMemory ? nil : ServerOption.data.value(data)
    if let data { try makeDirectory(data) }
    let address = try exposure.checked(ServerOption.sandbox.address(sandbox))
    let simulator = try Startup.simulator(
      for: configuration, data: data, start: start, targets: exposure.targets)
    let service = SandboxService(
      address: address, simulator: simulator,
      policy: OriginPolicies(configuration.listeners, http: address, sandbox: address).sandbox, logger: logger
    )
    try await ServiceGroup(
      configuration: .init(
        services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    ).run()
  }

  private func makeDirectory(_ path: String) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw Failure("cannot create '\(path)': \(error.localizedDescription)")
    }
  }
}

/// Serves the sandbox until a signal ends it.
struct SandboxService: ServiceLifecycle.Service, CustomStringConvertible {
  let address: HostAndPort
  let simulator: AppStoreSimulator
  let policy: OriginPolicy
  let logger: Logger

  /// Its name in the log lines of the life cycle.
  var description: String { "sandbox" }

  func run() async throws {
    let listener: Listener
    do {
      listener = try await Listener.listen(
        at: address, on: MultiThreadedEventLoopGroup.singleton,
        serving: Listeners.sandbox(policy, simulator), logger: logger)
      try await simulator.setBaseURL("http://\(listener.address)")
    } catch {
      throw Failure("\(error)")
    }
    print("ready sandbox=\(listener.address)")
    fflush(nil)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await simulator.run() }
      try? await gracefulShutdown()
      group.cancelAll()
    }
    await listener.shutDown(grace: .seconds(5))
  }
}

/// `entitled sandbox buy`.
struct SandboxBuyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "buy", abstract: "Buy a product and print the signed transaction.")

  @OptionGroup var sandbox: SandboxClient
  @OptionGroup var app: AppOption
  @Option(help: "Apple account (default: a new account).") var account: String?
  @Option(help: "appAccountToken of the purchase, a UUID (default: none).") var appAccountToken: String?
  @Option(help: "Quantity (default: 1).") var quantity: Int?
  @Option(help: "Purchase date, RFC 3339 (default: now).") var purchaseDate: String?
  @Option(help: "Billing plan: BILLED_UPFRONT or MONTHLY (default: BILLED_UPFRONT).") var billingPlanType:
    String?
  @Option(help: "Id of an offer of the product (default: none).") var offer: String?
  @Flag(help: "JSON output.") var json = false
  @Argument(help: "Product id.") var product: String

  func run() async throws {
    let response = try await sandbox.post("purchases", order(try await app.id(orOnlyOf: sandbox.apps)))
    print(json ? response.text : response.json["signedTransactionInfo"]?.stringValue ?? response.text)
  }

  private func order(_ app: String) -> JSONObject {
    var order: JSONObject = ["app": .string(app), "productId": .string(product)]
    if let account { order["account"] = .string(account) }
    if let appAccountToken { order["appAccountToken"] = .string(appAccountToken) }
    if let quantity { order["quantity"] = .number(JSONNumber(Int64(quantity))) }
    if let billingPlanType { order["billingPlanType"] = .string(billingPlanType) }
    if let offer { order["offer"] = .string(offer) }
    if let purchaseDate { order["purchaseDate"] = .string(purchaseDate) }
    return order
  }
}
