internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Reports
internal import Wire

/// The latest results of comparisons with Apple's reports: a square a day, and the same as a table.
enum ReconciliationStrip {
  /// The days of the strip; the last one is yesterday.
  private static let length: Int64 = 60

  /// The results of the last ``length`` days; an error takes their place.
  static func section(in scope: Scope, _ visit: Visit) async -> Markup {
    let content: Markup
    do throws(Status) {
      let today = ReportDay(try await ReportPage.now(in: scope, visit))
      let first = today.advanced(by: -length)
      let request = GetReconciliationRequest.with {
        ($0.app, $0.environment) = (scope.app, scope.environment)
        $0.startTime = GoogleProtobuf.Timestamp(first.start)
        $0.endTime = GoogleProtobuf.Timestamp(today.start)
      }
      let results = try await visit.call(Calls.getReconciliation, request).days
      content =
        results.isEmpty
        ? Part.empty(Text.noReconciliation) : markup(results, from: first, to: today, in: scope)
    } catch {
      content = Part.failure(error)
    }
    return "<h2 id=\"reconciliation\">\(Text.reconciliation)</h2>\n\(content)"
  }

  private static func markup(
    _ results: [ReconciledDay], from first: ReportDay, to end: ReportDay, in scope: Scope
  ) -> Markup {
    let byDay = Dictionary(grouping: results) { $0.day?.day.number ?? 0 }
    let squares = (first.number..<end.number).map { number in
      square(ReportDay(number: number), byDay[number].map(ReconciliationOutcome.init))
    }
    let total = ReconciliationOutcome(results)
    return """
      <p>\(Text.reconciliationHint)</p>
      <ul class="facts"><li>\(first.text) – \(end.advanced(by: -1).text)</li><li>\(total.chip)</li><li>\(Text.matched(total.matched))</li>\
      <li>\(Text.explained(total.explained))</li><li>\(Text.unexplained(total.unexplained))</li>\
      <li>\(Text.latestReconciliation) \(Format.time(results.compactMap { $0.recordedAt?.instant }.max()))</li></ul>
      <ol class="days">\(squares)</ol>
      <ul class="legend">\(ReconciliationOutcome.legend)</ul>
      <details\(total.isClean ? "" : " open" as Markup)><summary>\(Text.reconciliationTable)</summary>
      \(ReconciliationTable.markup(results.reversed(), earlierRunsIn: scope))</details>
      """
  }

  private static func square(_ day: ReportDay, _ outcome: ReconciliationOutcome?) -> Markup {
    let name = "\(day.text): \(outcome?.name ?? Text.notReconciled)"
    return """
      <li class="\(outcome?.tone.rawValue ?? Tone.ended.rawValue)" title="\(name)">\
      <span role="img" aria-label="\(name)">\(outcome?.sign ?? Text.none)</span></li>
      """
  }
}

/// The outcome of comparisons, of the worst of them.
struct ReconciliationOutcome {
  let matched, explained, unexplained, unknownRows: Int64

  init(_ results: [ReconciledDay]) {
    matched = Self.sum(results.map(\.matched))
    explained = Self.sum(results.map(\.explained))
    unexplained = Self.sum(results.map(\.unexplained))
    unknownRows = Self.sum(results.map(\.unknownRows))
  }

  private static func sum(_ numbers: [Int64]) -> Int64 { numbers.reduce(0) { $0.addingSaturated($1) } }

  var isClean: Bool { unexplained == 0 && unknownRows == 0 }
  var tone: Tone { isClean ? explained > 0 ? .trial : .full : .none }
  var sign: String { isClean ? explained > 0 ? "≈" : "✓" : "✕" }
  var name: String {
    if unexplained > 0 { return Text.unexplained(unexplained) }
    if unknownRows > 0 { return Text.unknownRows(unknownRows) }
    return explained > 0 ? Text.explained(explained) : Text.allMatched
  }
  var chip: Markup { Part.chip("\(sign) \(name)", tone) }

  static var legend: [Markup] {
    [
      (Tone.full, "✓ \(Text.allMatched)"), (.trial, "≈ \(Text.reconciledByRules)"),
      (.none, "✕ \(Text.leftOver)"), (.ended, "\(Text.none) \(Text.notReconciled)"),
    ].map { tone, text in "<li>\(Part.chip(text, tone))</li>" }
  }
}
