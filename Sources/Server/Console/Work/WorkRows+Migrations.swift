internal import Markup
internal import Pages
internal import RPC
internal import Wire

// Jobs that migrate receipts.
extension WorkRows {
  static func migrations(
    _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let response = try await visit.call(
      Calls.listMigrations,
      .with {
        $0.app = scope.app
        $0.pageToken = page.token
        $0.pageSize = page.size
      })
    let rows = response.migrations.map { job in
      let state = Format.value(job.state, "MIGRATION_STATE_")
      let counts = [job.migrated, job.unchanged, job.rejected, job.retryable]
      let cells: [Markup] = [
        "\(job.migrated)", "\(job.unchanged)", failures(job.rejected, .rejected, of: job, scope),
        failures(job.retryable, .retryable, of: job, scope),
      ]
      return Row(
        cells: [
          Format.id(job.migrationId), "\(self.state(of: job)) \(cancel(job, scope, visit))", progress(job),
          Format.time(job.startedAt),
          Format.time(job.finishedAt),
        ] + cells,
        values: [
          job.migrationId, state, job.startedAt.text, job.finishedAt.text, String(job.doneBytes),
          String(job.inputBytes),
        ] + counts.map { String($0) } + [job.error])
    }
    return WorkRows(rows: rows, next: response.nextPageToken)
  }

  /// The state, for a job that failed with its error and what to do about it.
  private static func state(of job: Migration) -> Markup {
    let name = Format.value(job.state, "MIGRATION_STATE_") + (job.dryRun ? ", \(Text.dryRun)" : "")
    guard job.state == .failed else { return "\(name)" }
    return "\(Part.chip("✕ \(name)", .none)) \(job.error)<br>\(Text.adviceFailedJob)"
  }

  /// The number of lines with an outcome and their reasons, which lead to the lines.
  private static func failures(
    _ count: Int64, _ outcome: MigrationOutcome, of job: Migration, _ scope: Scope
  ) -> Markup {
    guard count > 0 else { return "0" }
    let reasons = job.reasons.filter { $0.outcome == outcome }.map {
      "<br><span class=\"quiet\"><code>\($0.reason)</code> \($0.count)</span>" as Markup
    }
    return "<a href=\"\(MigrationFailuresPage.link(job.migrationId, in: scope))\">\(count)</a>\(reasons)"
  }

  private static func cancel(_ job: Migration, _ scope: Scope, _ visit: Visit) -> Markup {
    guard job.state == .running, ActionName.cancelMigration.isOpen(to: visit) else { return "" }
    let link = scope.action(.cancelMigration, [("migration", job.migrationId)])
    return "<a href=\"\(link)\">\(Text.cancelThis)</a>"
  }

  /// The share of the input that was read, and the number of receipts so far.
  private static func progress(_ job: Migration) -> Markup {
    guard job.inputBytes > 0 else { return "\(job.doneLines)" }
    let done = min(max(job.doneBytes, 0), job.inputBytes)
    let percent = Int(Double(done) / Double(job.inputBytes) * 100)
    return """
      <progress max="100" value="\(percent)" aria-label="\(Text.progress)"></progress> \(percent) % · \(job.doneLines)
      """
  }
}
