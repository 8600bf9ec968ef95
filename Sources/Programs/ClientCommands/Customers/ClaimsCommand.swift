internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled claims`: purchases without an owner, and the tokens that link them.
struct ClaimsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "claims", abstract: "List unclaimed purchases and register account tokens.",
    subcommands: [ListUnclaimedCommand.self, RegisterTokenCommand.self],
    defaultSubcommand: ListUnclaimedCommand.self)
}

/// `entitled claims list`.
struct ListUnclaimedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the purchases without an owner.")

  @OptionGroup var options: ScopedOptions

  func run() async throws {
    let request: ListUnclaimedPurchasesRequest = try await options.request()
    try await options.showPages(
      request, { try await $0.listUnclaimedPurchases($1) }, empty: "no unclaimed purchases"
    ) { $0.transactions.map(\.row) }
  }
}

/// `entitled claims register`.
struct RegisterTokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "register", abstract: "Register a customer's appAccountToken.")

  @OptionGroup var options: ScopedOptions

  @Flag(help: "Show the effects without committing them.") var dryRun = false
  @Option(help: "Name of the person who registers, for the timeline.") var actor = ""

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "UUID that the app sets as appAccountToken.") var token: String

  func run() async throws {
    let request: RegisterAppAccountTokenRequest = try await options.request {
      $0.customerId = customer
      $0.appAccountToken = token
      $0.actor = actor
      $0.dryRun = dryRun
    }
    let response = try await options.withConnection { try await $0.registerAppAccountToken(request) }
    options.showList(
      response, response.originalTransactionIds.map { ("claimed", $0) }, empty: "no purchase to claim")
  }
}

extension Transaction {
  fileprivate var row: (String, String) {
    let token = appAccountToken.isEmpty ? "" : ", token \(appAccountToken)"
    return (originalTransactionId, "\(productId), bought \(purchaseDate.text)\(token)")
  }
}
