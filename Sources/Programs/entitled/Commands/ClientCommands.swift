internal import AppStore
internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled check`: is this customer entitled?
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Ask whether a customer is entitled.",
    discussion: "Exit status 0 if entitled, 3 if not.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Argument(help: "The customer's id.") var customer: String
  @Argument(help: "The entitlement asked for.") var entitlement: String

  func run() async throws {
    let request = CheckRequest.with {
      $0.app = app
      $0.customerId = customer
      $0.entitlement = entitlement
    }
    let environment = try EnvironmentName.parse(environment)
    let answer = try await client.withConnection { connection in
      try await connection.check(
        .with {
          $0 = request
          $0.environment = environment
        })
    }
    client.show(answer, answer.rows)
    if !answer.entitled { throw ExitCode(3) }
  }
}

/// `entitled submit`: hand in what an app got from StoreKit.
struct SubmitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit", abstract: "Hand in a signed transaction for a customer.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "The signed renewal info that belongs to it: text, @FILE, or - for the standard input.")
  var renewalInfo: String?
  @Argument(help: "The customer's id.") var customer: String
  @Argument(help: "The signed transaction: text, @FILE, or - for the standard input.") var transaction: String

  func run() async throws {
    let transaction = try Document.read(transaction)
    let renewalInfo = try renewalInfo.map(Document.read) ?? ""
    let answer = try await client.withConnection { connection in
      try await connection.submitTransaction(
        .with {
          $0.app = app
          $0.customerId = customer
          $0.signedTransaction = transaction
          $0.signedRenewalInfo = renewalInfo
        })
    }
    let entitlements = answer.entitlements.map { ("\($0.entitlement)", $0.summary) }
    client.show(answer, answer.rows + entitlements)
  }
}

/// `entitled inspect`: what is this document, and is it genuine?
struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Say what a document is and whether it is genuine. Stores nothing.",
    discussion: "Exit status 0 if it is genuine, 3 if not.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Argument(help: "The document: text, @FILE, or - for the standard input. Files may be binary.")
  var document: String

  func run() async throws {
    let document = Array(try Document.bytes(document))
    let answer = try await client.withConnection { connection in
      try await connection.inspect(
        .with {
          $0.app = app
          $0.documentBytes = document
        })
    }
    client.show(answer, answer.rows)
    if !answer.verified { throw ExitCode(3) }
  }
}

/// `entitled health`: for container health checks.
struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health", abstract: "Ask whether the server is serving.",
    discussion: "Exit status 0 only if it is.")

  @OptionGroup var client: ClientOptions
  @Argument(help: "A service's full name; else the server as a whole.") var service = ""

  func run() async throws {
    let status = try await client.withConnection { try await $0.health(of: service) }
    client.show(GRPCHealth.HealthCheckResponse.with { $0.status = status }, [("status", status.protoName)])
    if status != .serving { throw ExitCode(1) }
  }
}

/// An environment as people type it: Apple's word.
enum EnvironmentName {
  static func parse(_ name: String?) throws -> Wire.Environment {
    switch name {
    case nil: .unspecified
    case "Production": .production
    case "Sandbox": .sandbox
    case "Xcode": .xcode
    case "LocalTesting": .localTesting
    case .some(let other):
      throw Failure(
        "--environment takes Production, Sandbox, Xcode or LocalTesting, not '\(other)'", status: 64)
    }
  }
}
