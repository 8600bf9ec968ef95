internal import Callers
internal import HTTP
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// Work lists of one app and environment.
enum WorkPage {
  /// The number up to which rows are read to be counted: each is a look at a customer, and costs as much as on its list.
  private static let maxCounted: Int32 = 10

  static func overview(in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    guard WorkQueue.isAnyOpen(to: visit) else {
      throw Status(.permissionDenied, reason: "ROLE_MISSING", Text.mayNot(Text.work))
    }
    var items: [Markup] = []
    for queue in WorkQueue.allCases where queue.isOpen(to: visit) {
      var count: Markup = ""
      var problem: Markup = ""
      var tone: Tone?
      do throws(Status) {
        let rows = try await WorkRows.page(of: queue, RequestedRows(size: maxCounted), scope, visit)
        let number =
          rows.total.map { "\($0)" }
          ?? (rows.next.isEmpty ? "\(rows.rows.count)" : Text.moreThan(rows.rows.count))
        if !rows.rows.isEmpty, queue != .migrations { tone = .grace }
        count = Part.chip(number, tone ?? .ended)
      } catch {
        problem = Part.failure(error, of: Text.numberOfRows)
      }
      items.append(
        "<article class=\"card \(tone?.rawValue ?? "")\"><h2><a href=\"\(scope.work(queue))\">\(queue.title)</a> \(count)</h2><p>\(queue.hint)</p>\(problem)</article>\n"
      )
    }
    let forMany = [(ActionName.makeGood, Text.makeGoodHint), (.extendAll, Text.extendAllHint)].compactMap {
      action, hint in
      WorkRows.button(action, in: scope, visit).map {
        "<p class=\"row actions\">\($0) \(hint)</p>\n" as Markup
      }
    }
    return Page(
      Text.work, in: scope, section: .work,
      body:
        "<h1>\(Text.work)</h1>\n<p class=\"quiet\">\(Text.workHint)</p>\n<div class=\"cards\">\(items)</div>\n\(forMany)"
    )
  }

  /// `GET` of `work/QUEUE` in the scope. `page` is the token of the next page.
  static func page(_ name: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let queue = try queue(name, visit)
    let rows = try await WorkRows.page(
      of: queue, RequestedRows(token: visit.value("page") ?? ""), scope, visit)
    let next = Part.next(rows.next) { Link(scope.path + ["work", name], query: [("page", $0)]) }
    let table =
      rows.rows.isEmpty
      ? Part.empty(rows.empty ?? queue.empty)
      : Table.markup(queue.title, heads: queue.heads, rows: rows.rows.map(\.cells))
    let csv: Markup =
      rows.rows.isEmpty
      ? ""
      : Part.file(Text.listAsCSV, Link(scope.path + ["work", name + ".csv"]))
    return Page(
      queue.title, in: scope, section: .work,
      body: """
        <p><a href="\(scope.work())">\(Text.work)</a></p>
        <h1>\(queue.title)</h1>
        <p>\(queue.hint)</p>
        \(rows.head)
        <div class="cards-on-phones">\(table)</div>
        \(next)\(csv)
        """)
  }

  /// All rows of a queue.
  static func csv(_ name: String, in scope: Scope, _ visit: Visit) async throws(Status) -> HTTPResponse {
    let queue = try queue(name, visit)
    return try await .csv(queue.columns) { page async throws(Status) in
      let rows = try await WorkRows.page(of: queue, RequestedRows(token: page), scope, visit)
      return (rows.rows.map(\.values), rows.next)
    }
  }

  private static func queue(_ name: String, _ visit: Visit) throws(Status) -> WorkQueue {
    guard let queue = WorkQueue(rawValue: name), queue.isOpen(to: visit) else { throw .noSuchPage }
    return queue
  }
}
