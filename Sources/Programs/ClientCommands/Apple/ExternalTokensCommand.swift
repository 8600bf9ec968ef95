internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled apple external-tokens`.
struct ExternalTokensCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "external-tokens", abstract: "List external purchase tokens to report.",
    discussion: "The earliest deadline first. 'apple report-external' reports a token.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Flag(help: "List reported tokens too.") var all = false

  func run() async throws {
    let (app, environment) = (try await scope.app.id(client), try scope.appEnvironment())
    try await client.showPages(
      empty: all ? "no external purchase tokens" : "no unreported tokens", nextPageToken: \.nextPageToken,
      rows: { (page: ListExternalPurchaseTokensResponse) in page.tokens.map(\.row) },
      fetch: { connection, token in
        try await connection.listExternalPurchaseTokens(
          .with {
            $0.app = app
            $0.environment = environment
            $0.includeReported = all
            $0.pageToken = token
          })
      })
  }
}

extension ExternalPurchaseToken {
  fileprivate var row: (String, String) {
    let word = state.protoName.droppingPrefix("EXTERNAL_TOKEN_STATE_").lowercased()
    let type = tokenType.isEmpty ? "" : ", \(tokenType)"
    let report = reportedAt.text.isEmpty ? "" : ", \(reportStatus) \(reportedAt.text)"
    return (externalPurchaseId, "\(word), report by \(reportBy.text)\(type)\(report)")
  }
}
