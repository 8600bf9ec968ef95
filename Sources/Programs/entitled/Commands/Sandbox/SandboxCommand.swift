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

/// `entitled sandbox`: an App Store on this machine.
struct SandboxCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sandbox", abstract: "An App Store on this machine, to buy from in tests.",
    subcommands: [
      SandboxServeCommand.self, SandboxBuyCommand.self, SandboxDoCommand.self, SandboxAdvanceCommand.self,
    ],
    defaultSubcommand: SandboxServeCommand.self)
}

/// `entitled sandbox serve`: the App Store alone, without the service.
struct SandboxServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Run the sandbox App Store alone.",
    discussion: "A service that is to believe it must trust its root: GET /sandbox/v1/root.")

  @Option(help: "Where it is served (default: \(ServerOption.sandbox.fallback)). Port 0 takes a free one.")
  var sandbox: String?
  @Option(
    help:
      "The directory of its state, sandbox/sandbox.sqlite and keys (default: \(ServerOption.data.fallback)).")
  var data: String?
  @Flag(help: "Keep nothing: its state is in memory, and gone with the process.") var inMemory = false
  @Option(help: "The configuration: a YAML file. Without one, a demo app is sold for.") var config: String?

  @Option(help: "When a new world begins, in RFC 3339, so that there is a past; else now.") var start: String?

  func run() async throws {
    let logger = Logger(label: "entitled.sandbox")
    let start = try start.map { text in
      guard let moment = Instant(rfc3339: text), moment <= SystemClock.now() else {
        throw Failure("--start is a moment of the past in RFC 3339, not \(text)", status: 64)
      }
      return moment
    }
    let configuration = try Startup.configuration(file: config ?? ServerOption.environment("ENTITLED_CONFIG"))
    if inMemory, data != nil { throw Failure("either --data or --in-memory", status: 64) }
    let data = inMemory ? nil : ServerOption.data.value(data)
    if let data { try makeDirectory(data) }
    let simulator = try Startup.simulator(for: configuration, data: data, start: start)
    let service = SandboxService(
      address: try ServerOption.sandbox.address(sandbox), simulator: simulator, logger: logger)
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
      throw Failure("cannot use \(path): \(error.localizedDescription)")
    }
  }
}

/// The App Store alone, until a signal ends it.
struct SandboxService: ServiceLifecycle.Service, CustomStringConvertible {
  let address: HostAndPort
  let simulator: AppStoreSimulator
  let logger: Logger

  /// What the lifecycle's log lines call it.
  var description: String { "sandbox" }

  func run() async throws {
    let listener: Listener
    do {
      listener = try await Listener.listen(
        at: address, on: MultiThreadedEventLoopGroup.singleton,
        serving: Listeners.plain { await simulator.respond(to: $0) }, logger: logger)
      try await simulator.isServed(at: "http://\(listener.address)")
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

/// `entitled sandbox buy`: a purchase, as an app's customer makes it.
struct SandboxBuyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "buy", abstract: "Buy a product; prints the signed transaction.")

  @Option(
    help: "The sandbox App Store's address (default: \(ServerOption.sandbox.fallback), or ENTITLED_SANDBOX).")
  var sandbox: String?
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "The Apple account that buys; else a new one.") var account: String?
  @Option(help: "The UUID that the app attaches to the purchase.") var appAccountToken: String?
  @Option(help: "How many.") var quantity: Int?
  @Option(help: "When, in RFC 3339, for a purchase in the past; else now.") var purchaseDate: String?
  @Option(help: "The id of an offer that was set up for the product.") var offer: String?
  @Flag(help: "Print the whole answer as JSON.") var json = false
  @Argument(help: "The product's id.") var product: String

  func run() async throws {
    let answer = try await SandboxClient(address: sandbox).post("purchases", order)
    print(json ? answer.text : answer.json["signedTransactionInfo"]?.stringValue ?? answer.text)
  }

  private var order: JSONObject {
    var order: JSONObject = ["app": .string(app), "productId": .string(product)]
    if let account { order["account"] = .string(account) }
    if let appAccountToken { order["appAccountToken"] = .string(appAccountToken) }
    if let quantity { order["quantity"] = .number(JSONNumber(Int64(quantity))) }
    if let offer { order["offer"] = .string(offer) }
    if let purchaseDate { order["purchaseDate"] = .string(purchaseDate) }
    return order
  }
}
