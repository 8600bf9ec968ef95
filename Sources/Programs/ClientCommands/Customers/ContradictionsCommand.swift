internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled contradictions`.
struct ContradictionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contradictions", abstract: "List facts that conflict with each other.",
    discussion: "Also facts that conflict with the catalog. Answers follow the rule that each line names.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Argument(help: "Customer id (default: all customers).") var customer = ""

  func run() async throws {
    let (app, environment) = (try await scope.app.id(client), try scope.appEnvironment())
    try await client.showPages(
      empty: "no contradictions", nextPageToken: \.nextPageToken,
      rows: { $0.contradictions.map { ($0.customerId, "\($0.kind)  \($0.explanation)") } }
    ) { connection, token in
      try await connection.listContradictions(
        .with {
          $0.app = app
          $0.environment = environment
          $0.customerId = customer
          $0.pageToken = token
        })
    }
  }
}
