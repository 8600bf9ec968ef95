internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled migrate list`.
struct MigrateListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List migration jobs, latest first.")

  @OptionGroup var options: AppOptions

  func run() async throws {
    let request: ListMigrationsRequest = try await options.request()
    try await options.showPages(
      request, { try await $0.listMigrations($1) }, empty: "no migration jobs"
    ) { $0.rows }
  }
}

/// `entitled migrate status`.
struct MigrateStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the progress and the results of a job.")

  @OptionGroup var options: AppOptions

  @Argument(help: "Migration id, as 'migrate list' prints it.") var migration: String

  func run() async throws {
    let request: GetMigrationRequest = try await options.request { $0.migrationId = migration }
    let response = try await options.withConnection { try await $0.getMigration(request) }
    guard let job = response.migration else { return }
    print(
      options.client.json
        ? String(decoding: response.json(pretty: true), as: UTF8.self) : job.report(failures: nil))
  }
}

/// `entitled migrate failures`.
struct MigrateFailuresCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "failures", abstract: "List the failed lines of a job.")

  @OptionGroup var options: AppOptions

  @Argument(help: "Migration id, as 'migrate list' prints it.") var migration: String

  func run() async throws {
    let request: ListMigrationFailuresRequest = try await options.request { $0.migrationId = migration }
    let status: GetMigrationRequest = try await options.request { $0.migrationId = migration }
    let job = try await options.withConnection { try await $0.getMigration(status) }.migration ?? Migration()
    let isPurged = job.rejected + job.retryable > 0
    try await options.showPages(
      request, { try await $0.listMigrationFailures($1) },
      empty: isPurged ? "the failed lines were purged" : "no failed lines"
    ) { $0.failures.map(\.row) }
  }
}

/// `entitled migrate cancel`.
struct MigrateCancelCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel a running job.")

  @OptionGroup var options: AppOptions

  @Option(help: "Reason, for the audit log.") var note = ""

  @Argument(help: "Migration id, as 'migrate list' prints it.") var migration: String

  func run() async throws {
    let request: CancelMigrationRequest = try await options.request {
      $0.migrationId = migration
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.cancelMigration(request) }
    options.show(response, [("state", response.migration?.state.word ?? "")])
  }
}

/// `entitled migrate purge`.
struct MigratePurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge", abstract: "Delete the input and the failed lines of an ended job.")

  @OptionGroup var options: AppOptions

  @Option(help: "Reason, for the audit log.") var note = ""

  @Argument(help: "Migration id, as 'migrate list' prints it.") var migration: String

  func run() async throws {
    let request: PurgeMigrationRequest = try await options.request {
      $0.migrationId = migration
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.purgeMigration(request) }
    options.show(response, [("state", response.migration?.state.word ?? "")])
  }
}

extension MigrationFailure {
  fileprivate var row: (String, String) {
    let outcome = outcome.protoName.droppingPrefix("MIGRATION_OUTCOME_").lowercased()
    return ("line \(line)", "\(customerId), \(outcome), \(reason): \(explanation)")
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
