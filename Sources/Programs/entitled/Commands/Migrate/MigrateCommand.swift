internal import ArgumentParser
internal import EntitledClient
internal import Foundation
internal import Wire

/// `entitled migrate`: from legacy receipts to signed transactions.
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Carry legacy receipts into the world of signed transactions.",
    subcommands: [MigrateRunCommand.self, MigrateVerifyCommand.self],
    defaultSubcommand: MigrateRunCommand.self)
}

/// `entitled migrate --input FILE`: a job, from its input to its report.
struct MigrateRunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Migrate the receipts of a file (the default).",
    discussion: """
      The input is NDJSON, or CSV with a line of names: customer_id with receipt (base64) or \
      original_transaction_id; other names by options. It is handed to the server, which works on it and \
      remembers how far it is: the same command again goes on, or tells of what is done. Lines that failed go \
      into a file that is itself valid input. Exit status 0 if there are none, 3 if there are.
      """)

  @OptionGroup var client: ClientOptions
  @Option(help: "The input: a file, or - for the standard input.") var input: String
  @Flag(help: "The input is a path on the server, in its import folder.") var onServer = false
  @Option(help: "The app, as configured.") var app = "ocean-journal"
  @Option(help: "Where original transaction ids belong; receipts say it themselves.") var environment: String?
  @Option(help: "How many receipts at a time (default: 32).") var concurrency: Int32 = 0
  @Flag(help: "Only verify and count: ask Apple nothing, change nothing.") var dryRun = false
  @Flag(help: "Do it again, though the same input was migrated before.") var again = false
  @Option(help: "Where to write the lines that failed (default: beside the input).") var failures: String?
  @Option(help: "ndjson or csv (default: by the first character).") var syntax = ""
  @Option(help: "The column with the customer's id (default: customer_id).") var customerColumn = ""
  @Option(help: "The column with the receipt (default: receipt).") var receiptColumn = ""
  @Option(help: "The column with the original transaction id (default: original_transaction_id).")
  var transactionColumn = ""
  @Option(help: "What separates the columns of CSV (default: a comma).") var delimiter = ""
  @Flag(help: "Vouch for it that purchases of lines without a receipt are the customers' named there.")
  var link = false

  func run() async throws {
    let server = MigrationClient(client: client)
    var request = try order()
    if onServer {
      request.inputPath = input
    } else {
      request.uploadId = try await MigrationUpload(input: input).handOver(to: server)
    }
    request.idempotencyKey = [
      onServer ? "path \(input)" : request.uploadId, dryRun ? "dry run" : "", link ? "linked" : "",
      again ? UUID().uuidString : "",
    ].joined(separator: " ")
    let started = try await server.call { [request] connection async throws(ClientError) in
      try await connection.startMigration(request)
    }
    let ended = try await MigrationProgressView(server: server, isJSON: client.json)
      .follow(started.migration ?? Migration())
    let failed = try await writeFailures(of: ended, from: server)
    // The server need not keep the receipts of those that failed: they are here.
    _ = try await server.call { connection async throws(ClientError) in
      try await connection.cancelMigration(.with { $0.migrationId = ended.migrationId })
    }
    print(client.json ? ended.line : ended.report(failures: failed))
    if ended.state == .failed { throw ExitCode(1) }
    if failed != nil { throw ExitCode(3) }
  }

  private func order() throws -> StartMigrationRequest {
    let environment = try EnvironmentName.parse(environment)
    return .with {
      $0.app = app
      $0.environment = environment
      $0.concurrency = concurrency
      $0.dryRun = dryRun
      $0.linkUnverifiedIds = link
      $0.format = .with {
        $0.syntax = syntax
        $0.customerColumn = customerColumn
        $0.receiptColumn = receiptColumn
        $0.originalTransactionIdColumn = transactionColumn
        $0.delimiter = delimiter
      }
    }
  }

  /// Writes the lines that failed, page by page; the file's name if there are any.
  private func writeFailures(of job: Migration, from server: MigrationClient) async throws -> String? {
    guard job.rejected + job.retryable > 0 else { return nil }
    let path = failures ?? (input == "-" ? "migration.failures.ndjson" : "\(input).failures.ndjson")
    guard
      FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
      let file = FileHandle(forWritingAtPath: path)
    else { throw Failure("cannot write \(path)") }
    var token = ""
    repeat {
      let page = try await server.call { [token] connection async throws(ClientError) in
        try await connection.listMigrationFailures(
          .with {
            $0.migrationId = job.migrationId
            $0.pageToken = token
          })
      }
      for failure in page.failures { try file.write(contentsOf: Data("\(failure.input)\n".utf8)) }
      token = page.nextPageToken
    } while !token.isEmpty
    try file.close()
    return path
  }
}
