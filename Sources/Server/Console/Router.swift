internal import Bytes
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// Finds the page of an address.
enum Router {
  /// The app and environment in a path; `nil` if it has none.
  static func scope(of path: [String]) -> Scope? {
    path.count >= 3 && path[0] == "a" ? Scope(path[1], path[2]) : nil
  }

  /// The page for a GET.
  static func page(_ path: [String], _ visit: Visit) async throws(Status) -> Outcome {
    switch path {
    case [] where !visit.mayCall(Calls.getStatus) && visit.mayCall(Calls.queryReport):
      return .redirect(Link(["reports"]))
    case [] where !visit.mayCall(Calls.getStatus) && visit.mayCall(Calls.listAuditEntries):
      return .redirect(Link(["audit"]))
    case []: return try await HomePage.start(visit)
    case ["apps"]: return .page(try await HomePage.page(visit))
    case ["reports"]: return .page(try await ReportsPage.apps(visit))
    case ["find"]: return try await FindPage.page(visit)
    case ["status"]: return .page(try await StatusPage.page(visit))
    case ["audit"]: return .page(try await AuditPage.page(visit))
    default:
      guard let scope = scope(of: path) else { throw .noSuchPage }
      return try await page(Array(path.dropFirst(3)), in: scope, visit)
    }
  }

  private static func page(_ path: [String], in scope: Scope, _ visit: Visit) async throws(Status) -> Outcome
  {
    switch (path.first, path.count) {
    case ("customers", 2): return .page(try await CustomerPage.page(path[1], in: scope, visit))
    case ("customers", 3) where path[2] == "refunds":
      // A reload of the address alone calls Apple no second time.
      return .redirect(scope.customer(path[1]))
    case ("customers", 3) where path[2] == "changes":
      return .response(try await EventsSincePage.count(path[1], in: scope, visit))
    case ("customers", 3) where path[2] == "live":
      return .response(try await CustomerLive.response(path[1], in: scope, visit))
    case ("catalog", 1): return .page(try await CatalogPage.page(in: scope, visit))
    case ("purchases", 2): return .page(try await PurchasePage.page(path[1], in: scope, visit))
    case ("evidence", 2): return .page(try await EvidencePage.page(path[1], in: scope, visit))
    case ("events", 2): return .page(try await EventPage.page(path[1], in: scope, visit))
    case ("work", 1): return .page(try await WorkPage.overview(in: scope, visit))
    case ("work", 2): return .page(try await WorkPage.page(path[1], in: scope, visit))
    case ("work", 3) where path[1] == WorkQueue.migrations.rawValue:
      return .page(try await MigrationFailuresPage.page(path[2], in: scope, visit))
    case ("work", 5) where path[1] == WorkQueue.deadLetters.rawValue:
      return .page(try await DeliveryPage.page(path[2], path[3], path[4], in: scope, visit))
    case ("segments", 1): return .page(try await SegmentPage.overview(in: scope, visit))
    case ("segments", 2): return .page(try await SegmentPage.page(.saved(path[1]), in: scope, visit))
    case ("segments", 3) where path[1] == "built-in" && path[2] == GrantsPage.name:
      return .page(try await GrantsPage.page(in: scope, visit))
    case ("segments", 3) where path[1] == "built-in":
      return .page(try await SegmentPage.page(try builtIn(path[2]), in: scope, visit))
    case ("reports", 1): return .page(try await ReportsPage.overview(in: scope, visit))
    case ("reports", 2) where path[1].hasSuffix(".csv"):
      return .response(try await ReportPage.csv(String(path[1].dropLast(4)), in: scope, visit))
    case ("reports", 2): return .page(try await ReportPage.page(path[1], in: scope, visit))
    case ("reports", 3) where path[1] == "reconciliation":
      return .page(try await ReconciliationRunsPage.page(path[2], in: scope, visit))
    case ("reports", 3) where path[2] == "customers":
      return .page(try await ReportCustomersPage.page(path[1], in: scope, visit))
    case ("do", 2): return .page(try await ActionPage.form(path[1], in: scope, visit))
    default: throw .noSuchPage
    }
  }

  private static func builtIn(_ name: String) throws(Status) -> SegmentPage.Selection {
    guard let segment = BuiltInSegment(rawValue: name) else { throw .noSuchPage }
    return .builtIn(segment)
  }

  /// The result of a form.
  static func submit(_ path: [String], _ visit: Visit) async throws(Status) -> Outcome {
    if path == ["find"] { return try await FindPage.submit(visit) }
    if path.last?.hasSuffix(".csv") == true { return .response(try await file(path, visit)) }
    guard let scope = scope(of: path) else { throw .noSuchPage }
    switch (Array(path.dropFirst(3)), path.count) {
    case (let rest, 5) where rest[0] == "do": return try await ActionPage.submit(rest[1], in: scope, visit)
    case (let rest, 6) where rest[0] == "customers" && rest[2] == "refunds":
      return .page(try await RefundHistoryPage.page(rest[1], in: scope, visit))
    default: throw .noSuchPage
    }
  }

  /// A file of customers as CSV. It needs a reason, which the audit entries of its calls have.
  private static func file(_ path: [String], _ visit: Visit) async throws(Status) -> HTTPResponse {
    var visit = visit
    visit.reason = visit.form["note"]?.trimmed ?? ""
    guard !visit.reason.isEmpty else { throw .field("note", Text.missing(Text.reasonLabel)) }
    guard visit.reason.utf8.count <= maxReason else { throw .field("note", Text.tooLong(Text.reasonLabel)) }
    if path == ["audit.csv"] { return try await AuditPage.csv(visit) }
    guard let scope = scope(of: path) else { throw .noSuchPage }
    var path = Array(path.dropFirst(3))
    let name = String((path.popLast() ?? "").dropLast(4))
    switch (path.first, path.count, name) {
    case ("customers", 2, "history"): return try await CustomerPage.csv(path[1], in: scope, visit)
    case ("work", 1, _): return try await WorkPage.csv(name, in: scope, visit)
    case ("segments", 1, _): return try await SegmentPage.csv(.saved(name), in: scope, visit)
    case ("segments", 2, GrantsPage.name) where path[1] == "built-in":
      return try await GrantsPage.csv(in: scope, visit)
    case ("segments", 2, _) where path[1] == "built-in":
      return try await SegmentPage.csv(try builtIn(name), in: scope, visit)
    case ("reports", 2, "customers"): return try await ReportCustomersPage.csv(path[1], in: scope, visit)
    default: throw .noSuchPage
    }
  }

  /// As of the field `note` in requests, in bytes.
  private static let maxReason = 4_096
}
