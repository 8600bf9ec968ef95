internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import ReceiptMigration
internal import Store
internal import Wire

/// Migration jobs of `entitled.v1.ReceiptService`.
struct MigrationService: Sendable {
  private let desk: MigrationJobManager
  private let catalog: CurrentCatalog

  init(desk: MigrationJobManager, catalog: CurrentCatalog) {
    self.desk = desk
    self.catalog = catalog
  }

  private static let usualPage = 100
  private static let largestPage = 1_000
  /// Of all failures in one answer together, so that receipts in them do not make it too large to send.
  private static let pageBytes = 1 << 20
  private static let pieceBytes = 1 << 20

  var methods: [Method] {
    [
      .waitingUnary("/\(ReceiptService.name)/StartMigration") {
        (request: StartMigrationRequest, context) async throws(Status) in
        try await start(request, context)
      },
      .waitingUnary("/\(ReceiptService.name)/GetMigration") {
        (request: GetMigrationRequest, _) async throws(Status) in
        let migration = try await told { () async throws(MigrationError) in
          try await desk.status(of: request.migrationId)
        }
        return GetMigrationResponse.with { $0.migration = migration }
      },
      .waitingUnary("/\(ReceiptService.name)/ListMigrationFailures") {
        (request: ListMigrationFailuresRequest, _) async throws(Status) in
        try await failures(request)
      },
      .waitingUnary("/\(ReceiptService.name)/CancelMigration") {
        (request: CancelMigrationRequest, _) async throws(Status) in
        let migration = try await told { () async throws(MigrationError) in
          try await desk.cancel(request.migrationId)
        }
        return CancelMigrationResponse.with { $0.migration = migration }
      },
      .waitingUnary("/\(ReceiptService.name)/UploadMigrationInput") {
        (request: UploadMigrationInputRequest, _) async throws(Status) in
        try upload(request)
      },
    ]
  }

  private func told(
    _ body: () async throws(MigrationError) -> MigrationJobManager.JobStatus
  ) async throws(Status) -> Migration {
    do throws(MigrationError) { return Migration(try await body()) } catch { throw Status(error) }
  }

  private func start(
    _ request: StartMigrationRequest, _ context: CallContext
  ) async throws(Status) -> StartMigrationResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    guard request.inputPath.isEmpty != request.uploadId.isEmpty else {
      throw Status(
        .invalidArgument, reason: "MISSING_FIELD", "exactly one of input_path and upload_id is needed",
        field: "input_path")
    }
    guard request.concurrency >= 0 else {
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD", "concurrency is less than 0", field: "concurrency")
    }
    let order = MigrationJob.Order(
      appID: app.id, environment: environment, inputPath: request.inputPath,
      format: try InputFormat(request.format).text, concurrency: Int(request.concurrency),
      isDryRun: request.dryRun, key: request.idempotencyKey,
      actor: context.caller.isEmpty ? "migration" : context.caller, linksNumbers: request.linkUnverifiedIds)
    let migration = try await told { () async throws(MigrationError) in
      try await desk.start(order, upload: request.uploadId)
    }
    return .with { $0.migration = migration }
  }

  private func failures(
    _ request: ListMigrationFailuresRequest
  ) async throws(Status) -> ListMigrationFailuresResponse {
    guard let last = request.pageToken.isEmpty ? 0 : Int64(request.pageToken), last >= 0 else {
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD", "page_token is none of ours", field: "page_token")
    }
    let wanted = Int(request.pageSize)
    let size = wanted <= 0 ? Self.usualPage : min(wanted, Self.largestPage)
    let (job, lines): (MigrationJob, [MigrationLine])
    do throws(MigrationError) {
      (job, lines) = try await desk.failures(of: request.migrationId, after: last, limit: size + 1)
    } catch {
      throw Status(error)
    }
    var response = ListMigrationFailuresResponse()
    let inputs = FailureWriter(of: job)
    var bytes = 0
    for line in lines.prefix(size) {
      guard response.failures.isEmpty || bytes < Self.pageBytes else { break }
      let failure = MigrationFailure(line, input: inputs.line(line))
      bytes += failure.input.utf8.count
      response.failures.append(failure)
    }
    if response.failures.count < lines.count {
      response.nextPageToken = response.failures.last.map { String($0.line) } ?? ""
    }
    return response
  }

  private func upload(
    _ request: UploadMigrationInputRequest
  ) throws(Status) -> UploadMigrationInputResponse {
    guard request.data.count <= Self.pieceBytes else {
      throw Status(
        .invalidArgument, reason: "FIELD_TOO_LONG", "data has more than \(Self.pieceBytes) bytes",
        field: "data")
    }
    do throws(MigrationError) {
      let size = try desk.folder.append(request.data, to: request.uploadId, at: request.offset)
      return .with { $0.size = size }
    } catch {
      throw Status(error)
    }
  }
}

extension InputFormat {
  fileprivate init(_ message: MigrationInputFormat?) throws(Status) {
    self.init()
    guard let message else { return }
    if let name = message.syntax.given {
      guard let syntax = Syntax(rawValue: name) else {
        throw Status(
          .invalidArgument, reason: "INVALID_FIELD", "the syntax is neither ndjson nor csv",
          field: "format.syntax")
      }
      self.syntax = syntax
    }
    customerColumn = message.customerColumn.given ?? customerColumn
    receiptColumn = message.receiptColumn.given ?? receiptColumn
    numberColumn = message.originalTransactionIdColumn.given ?? numberColumn
    delimiter = message.delimiter.given ?? delimiter
    guard delimiter.utf8.count == 1 else {
      throw Status(
        .invalidArgument, reason: "INVALID_FIELD", "the delimiter is not one character of ASCII",
        field: "format.delimiter")
    }
  }
}
