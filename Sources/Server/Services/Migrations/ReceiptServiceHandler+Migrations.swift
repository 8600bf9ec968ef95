internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import ReceiptMigration
internal import Store
internal import Wire

// Migration jobs.
extension ReceiptServiceHandler {
  /// The maximum size of all failures in one response together, because they contain receipts.
  private static let pageBytes = 1 << 20
  /// The greatest size of one piece of an upload.
  private static let pieceBytes = 1 << 20

  /// Returns the job with its rate, which only the memory of the leader has.
  func getMigration(
    _ request: GetMigrationRequest, _ call: CallContext
  ) async throws(Status) -> GetMigrationResponse {
    let app = try context.catalog.value.app(request.app)
    let migration = try await status { () async throws(MigrationError) in
      try await context.intake.migrations.status(of: request.migrationId, in: app.id)
    }
    return .with { $0.migration = migration }
  }

  /// The position of a page is the number of the last job of the previous one.
  func listMigrations(
    _ request: ListMigrationsRequest, _ call: CallContext
  ) async throws(Status) -> ListMigrationsResponse {
    let app = try context.catalog.value.app(request.app)
    let (page, size) = try context.page(of: request)
    let last = try page.number
    do throws(MigrationError) {
      let jobs = try await context.intake.migrations.jobs(of: app.id, before: last, limit: size + 1)
      return .with {
        $0.migrations = jobs.prefix(size).map { Migration($0) }
        if jobs.count > size { $0.nextPageToken = page.token(after: jobs[size - 1].job.id) }
      }
    } catch {
      throw Status(error)
    }
  }

  /// Cancels a running job; a second call changes nothing. Receipts in flight may still be ingested, and what was
  /// migrated stays.
  func cancelMigration(
    _ request: CancelMigrationRequest, _ call: CallContext
  ) async throws(Status) -> CancelMigrationResponse {
    let app = try context.catalog.value.app(request.app)
    let migration = try await status { () async throws(MigrationError) in
      try await context.intake.migrations.cancel(request.migrationId, in: app.id)
    }
    return .with { $0.migration = migration }
  }

  /// Deletes the failures of an ended job and its uploaded input, which contain receipts.
  ///
  /// - Throws: `MIGRATION_RUNNING`, `UNKNOWN_MIGRATION`.
  func purgeMigration(
    _ request: PurgeMigrationRequest, _ call: CallContext
  ) async throws(Status) -> PurgeMigrationResponse {
    let app = try context.catalog.value.app(request.app)
    let migration = try await status { () async throws(MigrationError) in
      try await context.intake.migrations.purge(request.migrationId, in: app.id)
    }
    return .with { $0.migration = migration }
  }

  /// The job that `body` returns, as a message.
  private func status(
    _ body: () async throws(MigrationError) -> MigrationJobManager.JobStatus
  ) async throws(Status) -> Migration {
    do throws(MigrationError) { return Migration(try await body()) } catch { throw Status(error) }
  }

  /// Starts a job with a file of the migration folder or an upload. It runs after the call; without environments,
  /// receipts are looked up in all of the app.
  ///
  /// - Throws: `MISSING_FIELD` without an input, `INVALID_FIELD`, `INPUT_PATH_NOT_ALLOWED`, `INPUT_NOT_FOUND` and
  ///   others of ``MigrationError``.
  func startMigration(
    _ request: StartMigrationRequest, _ call: CallContext
  ) async throws(Status) -> StartMigrationResponse {
    let (request, once) = context.attributed(request, to: call)
    if let stored = try await once.storedResponse() { return stored }
    let app = try context.catalog.value.app(request.app)
    let environments = try app.searchedEnvironments(request.environment)
    let (inputPath, uploadID) =
      switch request.input {
      case .inputPath(let path)?: (path, "")
      case .uploadId(let id)?: ("", id)
      case nil: ("", "")
      }
    guard inputPath != uploadID else {
      throw .missingField("input_path", "input_path and upload_id are empty")
    }
    guard request.concurrency >= 0 else { throw .invalidField("concurrency", "concurrency is less than 0") }
    var format = try InputFormat(request.format)
    format.requiresCustomerColumn =
      request.linkUnverifiedIds || request.format?.customerColumn.isEmpty == false
    let order = MigrationJob.Order(
      appID: app.id, environments: environments, inputPath: inputPath,
      format: format.text, concurrency: Int(request.concurrency),
      isDryRun: request.dryRun,
      actor: request.actor.isEmpty ? "migration" : request.actor,
      linksUnverifiedIDs: request.linkUnverifiedIds)
    let idempotency = once.request.map { request in
      MigrationJobManager.IdempotentStart(request) { status in
        StartMigrationResponse.with { $0.migration = Migration(status) }.encodedBytes()
      }
    }
    let stored: [UInt8]
    do throws(MigrationError) {
      switch try await context.intake.migrations.start(
        order, upload: uploadID, isLimitedToApps: CallScope.isLimitedToApps, idempotency)
      {
      case .started(let status): return .with { $0.migration = Migration(status) }
      case .repeated(let response): stored = response
      }
    } catch {
      throw Status(error)
    }
    return try once.repeated(stored)
  }

  /// Lists failed lines by number, with their input. The position of a page is the number of its predecessor's last
  /// line. A page ends early when its inputs have a MiB.
  func listMigrationFailures(
    _ request: ListMigrationFailuresRequest, _ call: CallContext
  ) async throws(Status) -> ListMigrationFailuresResponse {
    let app = try context.catalog.value.app(request.app)
    let page = try context.pageTokens.page(request)
    let last = try page.number ?? 0
    let size = try RequestValidation.pageSize(request.pageSize)
    let (job, lines): (MigrationJob, [MigrationLine])
    do throws(MigrationError) {
      (job, lines) = try await context.intake.migrations.failures(
        of: request.migrationId, in: app.id, after: last, limit: size + 1)
    } catch {
      throw Status(error)
    }
    var response = ListMigrationFailuresResponse()
    let inputs = FailureWriter(of: job, in: context.intake.migrations.folder)
    var bytes = 0
    for line in lines.prefix(size) {
      guard response.failures.isEmpty || bytes < Self.pageBytes else { break }
      let failure = MigrationFailure(line, input: inputs.line(line))
      bytes += failure.input.utf8.count
      response.failures.append(failure)
    }
    if response.failures.count < lines.count {
      response.nextPageToken = response.failures.last.map { page.token(after: $0.line) } ?? ""
    }
    CallScope.show(response.failures.map(\.customerId), of: request.migrationId)
    return response
  }

  /// Appends a piece of at most 1 MiB to an upload at `offset`, unless it was appended before, so that a piece can be
  /// repeated.
  ///
  /// - Throws: `UPLOAD_OFFSET_MISMATCH` with the present size, `UPLOAD_TOO_LARGE`, `UPLOAD_FAILED`.
  func uploadMigrationInput(
    _ request: UploadMigrationInputRequest, _ call: CallContext
  ) async throws(Status) -> UploadMigrationInputResponse {
    let app = try context.catalog.value.app(request.app)
    guard request.data.count <= Self.pieceBytes else {
      throw Status(
        .invalidArgument, reason: "FIELD_TOO_LONG", "data has more than \(Self.pieceBytes) bytes",
        field: "data")
    }
    do throws(MigrationError) {
      let size = try await context.intake.migrations.append(
        request.data, to: request.uploadId, of: app.id, at: request.offset)
      return .with { $0.size = size }
    } catch {
      throw Status(error)
    }
  }
}

extension InputFormat {
  /// The format; missing members have the defaults of ``InputFormat``.
  ///
  /// - Throws: `INVALID_FIELD` for an unknown syntax, and a delimiter that is not one byte.
  fileprivate init(_ message: MigrationInputFormat?) throws(Status) {
    self.init()
    guard let message else { return }
    switch message.syntax {
    case .unspecified: break
    case .ndjson: syntax = .ndjson
    case .csv: syntax = .csv
    case .unrecognized:
      throw .invalidField("format.syntax", "the syntax is neither NDJSON nor CSV")
    }
    customerColumn = message.customerColumn.given ?? customerColumn
    receiptColumn = message.receiptColumn.given ?? receiptColumn
    numberColumn = message.originalTransactionIdColumn.given ?? numberColumn
    delimiter = message.delimiter.given ?? delimiter
    guard delimiter.utf8.count == 1 else {
      throw .invalidField("format.delimiter", "the delimiter is not one character of ASCII")
    }
  }
}
