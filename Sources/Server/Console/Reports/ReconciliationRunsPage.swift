internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Reports
internal import Wire

/// All results of comparisons with Apple's reports of one day, the latest first.
enum ReconciliationRunsPage {
  /// `GET …/reports/reconciliation/DAY`, with the day as `YYYY-MM-DD`.
  ///
  /// - Throws: `NO_SUCH_PAGE` for another text, and for a person without the role of `GetReconciliation`.
  static func page(_ text: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    guard visit.mayCall(Calls.getReconciliation), let day = ReportDay(text: text) else { throw .noSuchPage }
    let request = GetReconciliationRequest.with {
      ($0.app, $0.environment, $0.allRuns) = (scope.app, scope.environment, true)
      ($0.startTime, $0.endTime) = (GoogleProtobuf.Timestamp(day.start), GoogleProtobuf.Timestamp(day.end))
    }
    let runs = try await visit.call(Calls.getReconciliation, request).days
    let title = Text.reconciliation(of: day.text)
    return Page(
      title, in: scope, section: .reports,
      body: """
        <h1>\(title)</h1>
        <p>\(Text.reconciliationRunsHint)</p>
        \(runs.isEmpty ? Part.empty(Text.noReconciliationRuns) : ReconciliationTable.markup(runs))
        <p><a href="\(scope.reports())#reconciliation">\(Text.reconciliation)</a></p>
        """)
  }
}

/// A table of results of comparisons with Apple's reports.
enum ReconciliationTable {
  /// The table. With `scope`, a result that is not the first one of its report and day links to the earlier ones.
  static func markup(_ results: [ReconciledDay], earlierRunsIn scope: Scope? = nil) -> Markup {
    let rows = results.map { result in
      [
        "\(result.day?.day.text ?? "")", "\(Format.words(result.report))",
        ReconciliationOutcome([result]).chip,
        "\(result.matched)", "\(result.explained)", "\(result.unexplained)", "\(result.unknownRows)",
        "\(Format.time(result.recordedAt))\(run(result, in: scope))",
        "\(result.files.map { "<code>\($0)</code>" as Markup }.joined(separator: " "))",
      ] as [Markup]
    }
    return Table.markup(Text.reconciliation, heads: Text.reconciliationHeads, rows: rows)
  }

  private static func run(_ result: ReconciledDay, in scope: Scope?) -> Markup {
    guard let scope else { return "<br><span class=\"quiet\">\(Text.run(result.run))</span>" }
    guard result.run > 1, let day = result.day?.day else { return "" }
    let link = Link(scope.path + ["reports", "reconciliation", day.text])
    return "<br><a href=\"\(link)\">\(Text.earlierRuns(result.run - 1))</a>"
  }
}
