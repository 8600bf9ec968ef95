internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled migrate list`.
struct MigrateListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List migration jobs, latest first.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  func run() async throws {
    let app = try await app.id(client)
    try await client.showPages(
      empty: "no migration jobs", nextPageToken: \.nextPageToken, rows: \ListMigrationsResponse.rows
    ) {
      connection, token in
      try await connection.listMigrations(
        .with {
          $0.app = app
          $0.pageToken = token
        })
    }
  }
}

extension ListMigrationsResponse {
  fileprivate var rows: [(String, String)] {
    migrations.map { job in
      let failed = job.rejected + job.retryable
      return (
        job.migrationId,
        "\(job.startedAt.text) \(job.state.word)\(job.dryRun ? " (dry run)" : ""), \(job.doneLines) lines, \(failed) failed"
      )
    }
  }
}
