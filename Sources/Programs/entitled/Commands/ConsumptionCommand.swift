internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled consumption`: Apple's consumption requests and the customers' consent.
struct ConsumptionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consumption", abstract: "List consumption requests and record consent.",
    subcommands: [ListConsumptionCommand.self, ConsentCommand.self],
    defaultSubcommand: ListConsumptionCommand.self)
}

/// `entitled consumption list`.
struct ListConsumptionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List consumption requests, latest first.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  @Flag(help: "List only requests that can still be answered.") var open = false

  func run() async throws {
    let app = try app.id()
    try await client.showPages(
      nextPageToken: \.nextPageToken,
      rows: { (page: ListConsumptionRequestsResponse) in page.requests.map(\.row) },
      fetch: { connection, token in
        try await connection.listConsumptionRequests(
          .with {
            $0.app = app
            $0.state = open ? .open : .unspecified
            $0.pageToken = token
          })
      })
  }
}

/// `entitled consumption consent`.
struct ConsentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consent", abstract: "Record consent to report consumption to Apple.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Flag(help: "Withdraw the consent.") var withdraw = false
  @Option(help: "How the customer gave or withdrew the consent.") var note = ""

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let (app, environment) = (try scope.app.id(), try scope.appEnvironment())
    let request = SetConsumptionConsentRequest.with {
      $0.app = app
      $0.environment = environment
      $0.customerId = customer
      $0.consented = !withdraw
      $0.note = note
    }
    let response = try await client.withConnection { try await $0.setConsumptionConsent(request) }
    client.show(response, response.consent.map { [(customer, $0.summary)] } ?? [])
  }
}

extension ConsumptionConsent {
  /// The consent in one line.
  var summary: String { "\(consented ? "given" : "not given"), since \(since.text)" }
}

extension ConsumptionRequest {
  fileprivate var row: (String, String) {
    let state = state.protoName.droppingPrefix("CONSUMPTION_REQUEST_STATE_").lowercased()
    let customer = customerId.isEmpty ? "no customer" : customerId
    let cause = error.isEmpty ? "" : ", \(error)"
    return (transactionId, "\(customer), \(productId), \(reason): \(state)\(cause); by \(answerBy.text)")
  }
}
