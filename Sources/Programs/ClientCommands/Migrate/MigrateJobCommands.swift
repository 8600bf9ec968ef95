internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled migrate status`.
struct MigrateStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the progress and the results of a job.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  @Argument(help: "Migration id, as 'migrate list' prints it.") var migration: String

  func run() async throws {
    let app = try await app.id(client)
    let response = try await client.withConnection {
      try await $0.getMigration(
        .with {
          $0.app = app
          $0.migrationId = migration
        })
    }
    guard let job = response.migration else { return }
    print(
      client.json ? String(decoding: response.json(pretty: true), as: UTF8.self) : job.report(failures: nil))
  }
}

/// `entitled migrate failures`.
struct MigrateFailuresCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "failures", abstract: "List the failed lines of a job.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  @Argument(help: "Migration id, as 'migrate list' prints it.") var migration: String

  func run() async throws {
    let app = try await app.id(client)
    try await client.showPages(
      empty: "no failed lines", nextPageToken: \.nextPageToken,
      rows: { (page: ListMigrationFailuresResponse) in page.failures.map(\.row) },
      fetch: { connection, token in
        try await connection.listMigrationFailures(
          .with {
            $0.app = app
            $0.migrationId = migration
            $0.pageToken = token
          })
      })
  }
}

/// `entitled migrate cancel`.
struct MigrateCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel a running job.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  @Option(help: "Reason, for the audit log.") var note = ""

  @Argument(help: "Migration id, as 'migrate list' prints it.") var migration: String

  func run() async throws {
    let app = try await app.id(client)
    let response = try await client.withConnection {
      try await $0.cancelMigration(
        .with {
          $0.app = app
          $0.migrationId = migration
          $0.note = note
        })
    }
    client.show(response, [("state", response.migration?.state.word ?? "")])
  }
}

/// `entitled migrate purge`.
struct MigratePurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Delete the input and the failed lines of an ended job.")

  @OptionGroup var client: ClientOptions
  @OptionGroup var app: AppOption

  @Option(help: "Reason, for the audit log.") var note = ""

  @Argument(help: "Migration id, as 'migrate list' prints it.") var migration: String

  func run() async throws {
    let app = try await app.id(client)
    let response = try await client.withConnection {
      try await $0.purgeMigration(
        .with {
          $0.app = app
          $0.migrationId = migration
          $0.note = note
        })
    }
    client.show(response, [("state", response.migration?.state.word ?? "")])
  }
}

extension MigrationFailure {
  fileprivate var row: (String, String) {
    let outcome = outcome.protoName.droppingPrefix("MIGRATION_OUTCOME_").lowercased()
    return ("line \(line)", "\(customerId), \(outcome), \(reason): \(explanation)")
  }
}
