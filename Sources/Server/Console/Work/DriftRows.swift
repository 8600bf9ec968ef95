internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

// The answers that the last repair changed, as a work list.
extension WorkRows {
  static func drift(
    _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let backfill = head(.backfill, in: scope, visit)
    let repairs = try await visit.call(
      Calls.listRepairs,
      .about(scope) {
        $0.pageSize = 1
      })
    guard let repair = repairs.repairs.first else {
      return WorkRows(head: backfill, empty: Text.noRepair)
    }
    let report = try await visit.call(
      Calls.getDriftReport,
      .with {
        $0.app = scope.app
        $0.repairId = repair.repairId
        $0.pageToken = page.token
        $0.pageSize = page.size
      })
    let rows = report.drifts.map { drift in
      Row(
        cells: [
          scope.customerLink(drift.customerId), Format.name(drift.entitlement), Format.time(drift.detectedAt),
          "\(Format.words(drift.before?.reason ?? ""))", "\(Format.words(drift.after?.reason ?? ""))",
        ],
        values: [
          drift.customerId, drift.entitlement, drift.detectedAt.text, drift.before?.reason ?? "",
          drift.after?.reason ?? "",
        ])
    }
    return WorkRows(
      rows: rows, next: report.nextPageToken, head: backfill + summary(of: repair),
      empty: emptyDrift(after: repair))
  }

  private static func emptyDrift(after repair: Repair) -> String? {
    if !repair.error.isEmpty { return Text.failedRepair }
    return repair.finishedAt == nil ? Text.runningRepair : nil
  }

  private static func summary(of repair: Repair) -> Markup {
    let end: Markup =
      repair.finishedAt == nil ? "\(Text.repairRuns)" : "\(Text.finished) \(Format.time(repair.finishedAt))"
    let problem: Markup = repair.error.isEmpty ? "" : "<li class=\"chip none\">\(repair.error)</li>"
    return """
      <ul class="facts"><li>\(Text.started) \(Format.time(repair.startedAt))</li><li>\(end)</li>\
      <li>\(Text.missing(notifications: repair.received))</li>\(problem)</ul>
      """
  }
}
