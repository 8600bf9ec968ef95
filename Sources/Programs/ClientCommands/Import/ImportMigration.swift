internal import CommandSupport
internal import CustomerImport
internal import EntitledClient
internal import Foundation
internal import JSON
internal import Wire

/// Fetches the App Store purchases of an import from Apple with a migration job, and links them to their customers.
struct ImportMigration {
  let run: ImportRun

  /// Runs the job; returns the lines that failed. Then the service deletes the job's input and failures, which
  /// nothing reads after it.
  ///
  /// - Throws: ``Failure`` if the job failed or was cancelled.
  func migrate(_ plan: ImportPlan, _ counts: inout ImportCounts) async throws -> [ImportOmission] {
    let lines = plan.customers.flatMap { customer in
      customer.purchases.keys.sorted().map { Self.line($0, customer.id) }
    }
    guard !lines.isEmpty else { return [] }
    let path = URL(fileURLWithPath: NSTemporaryDirectory()).appending(path: UUID().uuidString).path
    guard
      FileManager.default.createFile(
        atPath: path, contents: Data(lines.joined().utf8), attributes: [.posixPermissions: 0o600])
    else { throw Failure("cannot write '\(path)'") }
    defer { try? FileManager.default.removeItem(atPath: path) }
    let server = MigrationClient(client: run.client)
    let upload = try await MigrationUpload(input: path, app: run.target.app).upload(to: server)
    let request = StartMigrationRequest.with {
      $0.app = run.target.app
      if run.target.isEnvironmentNamed { $0.environment = run.target.environment }
      $0.input = .uploadId(upload)
      $0.linkUnverifiedIds = true
      // A later import of the same purchases fetches them again.
      $0.idempotencyKey = UUID().uuidString
    }
    let started = try await server.call { connection async throws(ClientError) in
      try await connection.startMigration(request)
    }
    let job = try await MigrationProgressView(server: server, showsLines: false)
      .follow(started.migration ?? Migration())
    counts.migrated = Int(job.migrated)
    counts.unchanged = Int(job.unchanged)
    let refused = try await failures(of: job, server)
    _ = try await server.call { connection async throws(ClientError) in
      try await connection.purgeMigration(.with { ($0.app, $0.migrationId) = (job.app, job.migrationId) })
    }
    guard job.state == .finished else { throw Failure("the migration job ended: \(job.error)") }
    return refused
  }

  /// A line of the job's input: a purchase without its receipt.
  private static func line(_ purchase: String, _ customer: String) -> String {
    let line: JSONObject = [
      "customer_id": .string(customer), "original_transaction_id": .string(purchase),
    ]
    return String(decoding: line.serialized(), as: UTF8.self) + "\n"
  }

  /// The rejected lines, and the retryable ones: a later import of the same files tries these again.
  private func failures(of job: Migration, _ server: MigrationClient) async throws -> [ImportOmission] {
    var (omissions, token) = ([ImportOmission](), "")
    guard job.rejected + job.retryable > 0 else { return [] }
    repeat {
      let page = try await server.call { [token] connection async throws(ClientError) in
        try await connection.listMigrationFailures(
          .with { ($0.app, $0.migrationId, $0.pageToken) = (job.app, job.migrationId, token) })
      }
      for failure in page.failures {
        let input = (try? JSONValue(parsing: Array(failure.input.utf8)))?.objectValue
        let purchase = input?["original_transaction_id"]?.stringValue ?? ""
        omissions.append(
          ImportOmission(
            line: nil, .refused, customerID: failure.customerId,
            detail: "\(failure.reason): purchase \(purchase): \(failure.explanation)"))
      }
      token = page.nextPageToken
    } while !token.isEmpty
    return omissions
  }
}
