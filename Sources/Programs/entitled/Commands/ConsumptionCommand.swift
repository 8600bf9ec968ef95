internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled consumption`: what Apple asks about customers who want their money back.
struct ConsumptionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consumption", abstract: "Tell what Apple asks about refunds, and who agreed to an answer.",
    subcommands: [ListConsumptionCommand.self, ConsentCommand.self],
    defaultSubcommand: ListConsumptionCommand.self)
}

/// `entitled consumption list`.
struct ListConsumptionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List Apple's questions, the latest first.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Flag(help: "Only what can still be answered.") var open = false

  func run() async throws {
    try await client.withConnection { connection in
      var token = ""
      repeat {
        let request = ListConsumptionRequestsRequest.with {
          $0.app = app
          $0.state = open ? .open : .unspecified
          $0.pageToken = token
        }
        let page = try await connection.listConsumptionRequests(request)
        if client.json || !page.requests.isEmpty { client.show(page, page.requests.map(\.row)) }
        token = page.nextPageToken
      } while !token.isEmpty
    }
  }
}

/// `entitled consumption consent`.
struct ConsentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consent", abstract: "Record that a customer agrees that Apple is told how much was used.")

  @OptionGroup var client: ClientOptions
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Production, Sandbox, Xcode or LocalTesting; else the app's default.") var environment:
    String?
  @Flag(help: "The customer no longer agrees.") var withdraw = false
  @Option(help: "How the customer said so.") var note = ""
  @Argument(help: "The customer's id.") var customer: String

  func run() async throws {
    let environment = try EnvironmentName.parse(environment)
    let request = SetConsumptionConsentRequest.with {
      $0.app = app
      $0.environment = environment
      $0.customerId = customer
      $0.consented = !withdraw
      $0.note = note
    }
    let answer = try await client.withConnection { try await $0.setConsumptionConsent(request) }
    client.show(answer, answer.consent.map { [(customer, $0.summary)] } ?? [])
  }
}

extension ConsumptionConsent {
  /// What the customer said last, in a line.
  var summary: String { "\(consented ? "agrees" : "does not agree") that Apple is told, since \(since.text)" }
}

extension ConsumptionRequest {
  /// The question and what became of it, in one line.
  fileprivate var row: (String, String) {
    let word = state.protoName.droppingPrefix("CONSUMPTION_REQUEST_STATE_").lowercased()
    let who = customerId.isEmpty ? "nobody" : customerId
    let why = error.isEmpty ? "" : ", \(error)"
    return (transactionId, "\(who), \(productId), \(reason): \(word)\(why); by \(answerBy.text)")
  }
}
