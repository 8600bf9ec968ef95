internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import EntitledClient
internal import Foundation
internal import SignedData
internal import Wire

/// `entitled migrate`: migrates legacy receipts to signed transactions.
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrate legacy receipts to signed transactions.",
    subcommands: [
      MigrateRunCommand.self, MigrateListCommand.self, MigrateStatusCommand.self, MigrateFailuresCommand.self,
      MigrateCancelCommand.self, MigratePurgeCommand.self, MigrateCompareCommand.self,
    ],
    defaultSubcommand: MigrateRunCommand.self)
}

/// `entitled migrate --input FILE`: uploads the input, follows the job and prints its report.
struct MigrateRunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Migrate the receipts of a file.",
    discussion: """
      The input is NDJSON, or CSV with a header: customer_id with receipt (base64) or original_transaction_id; \
      options set other column names. The server stores the progress of the job: the same command resumes the job, \
      or prints its report if it has finished. Failed lines are written to a file that is valid input itself; \
      then the server deletes its copies of them and of the input. \
      Without --environment, an original transaction id is looked up in the environments of the app in their order, until \
      Apple has it. \
      Exit status 0 if no line failed, 3 otherwise, 1 if the job failed or was cancelled.
      """)

  @OptionGroup var client: ClientOptions
  @Option(help: "Input file, or - for the standard input.") var input: String
  @Flag(help: "The input is a path in the import directory of the server.") var onServer = false
  @OptionGroup var scope: ScopeOptions
  @Option(help: "Number of receipts processed concurrently (default: 32).") var concurrency: Int32?
  @Flag(help: "Verify and count, without calls to Apple and without changes.") var dryRun = false
  @Flag(help: "Start a new job even if the same input was migrated before.") var force = false
  @Option(help: "File for failed lines (default: INPUT.failures.ndjson).") var failures: String?
  @Option(help: "Format: ndjson or csv (default: detected from the first character).") var syntax:
    InputSyntax?
  @Option(help: "Column of the customer id (default: customer_id).") var customerColumn = ""
  @Option(help: "Column of the receipt (default: receipt).") var receiptColumn = ""
  @Option(help: "Column of the original transaction id (default: original_transaction_id).")
  var transactionColumn = ""
  @Option(help: "Column separator of CSV (default: a comma).") var delimiter = ""
  @Flag(help: "Link original transaction ids without a receipt to the customers of their lines.")
  var link = false

  func run() async throws {
    try OutputFile.require(failuresPath, besides: inputFiles)
    let server = MigrationClient(client: client)
    var request = try await makeRequest(server)
    request.input =
      onServer
      ? .inputPath(input)
      : .uploadId(
        try await MigrationUpload(input: input, app: request.app).upload(to: server))
    request.idempotencyKey = force ? UUID().uuidString : Hex.encode(SHA256.hash(request.encodedBytes()[...]))
    let response = try await server.call { [request] connection async throws(ClientError) in
      try await connection.startMigration(request)
    }
    let job = try await MigrationProgressView(server: server)
      .follow(response.migration ?? Migration())
    let failed = try await writeFailures(of: job, from: server)
    // The failed lines are in the local file now, so the server can delete its copy.
    _ = try await server.call { connection async throws(ClientError) in
      try await connection.purgeMigration(
        .with {
          $0.app = job.app
          $0.migrationId = job.migrationId
        })
    }
    print(client.json ? job.line : job.report(failures: failed))
    if job.state != .finished { throw ExitCode(1) }
    if failed != nil { throw ExitCode(3) }
  }

  private func makeRequest(_ server: MigrationClient) async throws -> StartMigrationRequest {
    let app = try await scope.appID(orOnlyOf: {
      try await server.call { connection async throws(ClientError) in
        try await connection.whoAmI(WhoAmIRequest())
      }.apps
    })
    let environment = try scope.appEnvironment()
    return .with {
      $0.app = app
      $0.environment = environment
      $0.concurrency = concurrency ?? 0
      $0.dryRun = dryRun
      $0.linkUnverifiedIds = link
      $0.format = .with {
        $0.syntax = syntax?.message ?? .unspecified
        $0.customerColumn = customerColumn
        $0.receiptColumn = receiptColumn
        $0.originalTransactionIdColumn = transactionColumn
        $0.delimiter = delimiter
      }
    }
  }

  private var failuresPath: String {
    failures ?? (input == "-" ? "migration.failures.ndjson" : "\(input).failures.ndjson")
  }

  /// The files of this machine that the failed lines must not overwrite.
  private var inputFiles: [String] { onServer || input == "-" ? [] : [input] }

  /// Writes the failed lines of `job`, page by page.
  ///
  /// - Returns: the path of the file, or, if the lines were purged, where they are; `nil` if no line failed.
  private func writeFailures(of job: Migration, from server: MigrationClient) async throws -> String? {
    guard job.rejected + job.retryable > 0 else { return nil }
    var page = try await failedLines(of: job, after: "", from: server)
    // The first run of the same command wrote the file, which must stay.
    guard !page.failures.isEmpty else { return "in the file of the first run; purged from the server" }
    let path = failuresPath
    let file = try OutputFile(path, besides: inputFiles)
    var written: Int64 = 0
    while true {
      try file.write(page.failures.map { "\($0.input)\n" }.joined())
      written += Int64(page.failures.count)
      guard !page.nextPageToken.isEmpty else { break }
      page = try await failedLines(of: job, after: page.nextPageToken, from: server)
    }
    try file.close()
    guard written >= job.rejected + job.retryable else {
      throw Failure("the failed lines were purged before all of them were written to '\(path)'; use --force")
    }
    return path
  }

  /// The page of failed lines of `job` after the page with this token.
  private func failedLines(
    of job: Migration, after token: String, from server: MigrationClient
  ) async throws -> ListMigrationFailuresResponse {
    try await server.call { connection async throws(ClientError) in
      try await connection.listMigrationFailures(
        .with {
          $0.app = job.app
          $0.migrationId = job.migrationId
          $0.pageToken = token
        })
    }
  }
}

/// The syntax of the input of `entitled migrate`.
enum InputSyntax: String, ExpressibleByArgument {
  case ndjson
  case csv

  var message: MigrationInputSyntax {
    switch self {
    case .ndjson: .ndjson
    case .csv: .csv
    }
  }
}

/// `entitled migrate compare`.
struct MigrateCompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "Compare stored purchases with Apple's current data.",
    discussion: """
      Changes nothing. Exit status 0 if all customers were compared and none differs, 3 otherwise.
      """)

  @OptionGroup var options: ScopedOptions

  @Option(help: "Sampling interval: compare one of this number of customers.")
  var sampleEvery: Int32 = 1

  func run() async throws {
    let (app, environment) = try await options.appAndEnvironment()
    let server = MigrationClient(client: options.client)
    let progress = ProgressLine()
    var (compared, notCompared, drifted) = (0, 0, Set<String>())
    var token = ""
    repeat {
      let page = try await server.call { [token] connection async throws(ClientError) in
        // Each customer costs calls to Apple.
        try await connection.compareWithApple(
          .with {
            $0.app = app
            $0.environment = environment
            $0.sampleEvery = sampleEvery
            $0.pageToken = token
          }, timeoutSeconds: 600)
      }
      compared += Int(page.compared)
      notCompared += Int(page.notCompared)
      for drift in page.drifts {
        drifted.insert(drift.customerId)
        print(options.client.json ? String(decoding: drift.json(), as: UTF8.self) : drift.line)
      }
      token = page.nextPageToken
      progress.update("\(compared + notCompared) customers, \(drifted.count) differ")
    } while !token.isEmpty
    progress.finish()
    if options.client.json {
      print("{\"compared\":\(compared),\"drifted\":\(drifted.count),\"notCompared\":\(notCompared)}")
    } else {
      print(
        Table.aligned([
          ("compared", "\(compared)"), ("drifted", "\(drifted.count)"),
          ("not compared", notCompared > 0 ? "\(notCompared)" : ""),
        ]))
    }
    if !drifted.isEmpty || notCompared > 0 { throw ExitCode(3) }
  }
}

extension CustomerDrift {
  fileprivate var line: String {
    "\(customerId)  \(reason)  \(originalTransactionId)\(transactionId.isEmpty ? "" : " \(transactionId)")"
  }
}
