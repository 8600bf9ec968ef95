internal import AppStore
internal import HTTP
internal import Markup
internal import Pages
internal import Sandbox

/// The actions in the sandbox, and their effects.
enum JournalPage {
  private static let limit = 200
  /// More than the journal has in memory.
  private static let maxScriptLines = 20_000

  /// The latest entries, or those after a number; without `all`, only actions and what caused notifications.
  static func page(_ visit: Visit) async -> Page {
    let end = await visit.simulator.journalEnd
    // The page after an operation has the number before it as `since`.
    let after = (visit.value("after") ?? visit.value("since")).flatMap { Int($0) } ?? max(0, end - limit)
    let (lines, total, first) = await visit.simulator.journalViews(after: after, limit: limit)
    let showsAll = visit.value("all") != nil
    let shown = lines.filter { showsAll || $0.isAction || !$0.notifications.isEmpty }
    let start = lines.first?.number ?? 1
    let older: Markup =
      start > first
      ? "<a href=\"\(visit.link(["journal"], [("after", String(max(0, start - limit - 1)))]))\">\(Text.older)</a> "
      : ""
    let newer: Markup =
      (lines.last?.number ?? total) < total
      ? "<a href=\"\(visit.link(["journal"], [("after", lines.last.map { String($0.number) })]))\">\(Text.newer)</a> "
      : ""
    let body: Markup = """
      <h1>\(Text.journal)</h1>
      <p>\(Text.journalHint) <a href="\(visit.link(["journal.sh"]))">\(Text.asScript)</a> ·
      <a href="\(visit.link(["journal"], [("after", String(after)), ("all", showsAll ? nil : "1")]))">\(showsAll ? Text.onlyActions : Text.withDeliveries)</a></p>
      \(shown.isEmpty ? Part.empty(Text.emptyJournal) : table(shown.reversed(), visit))
      <p>\(older)\(newer)</p>
      """
    return Page(title: Text.journal, section: .journal, body: body)
  }

  private static func table(_ lines: [JournalLineView], _ visit: Visit) -> Markup {
    Table.markup(
      Text.journal, heads: [Text.line, Text.when, Text.what, Text.notificationsTitle],
      rows: lines.map { line in
        [
          "\(line.number)", Format.time(line.at), what(line, visit),
          line.notifications.isEmpty ? "" : "<ul>\(line.notifications.map { Part.item($0, visit) })</ul>",
        ]
      })
  }

  /// The command of an entry, or what happened by itself.
  private static func what(_ line: JournalLineView, _ visit: Visit) -> Markup {
    if let command = line.command(at: visit.target) { return Part.command(command) }
    return switch line.entry {
    case .opened: "\(Text.opened)"
    case .attempt(let uuid, let result):
      "<a href=\"\(visit.link(["notifications", uuid]))\">\(Text.attempt)</a> \(Text.result(result))"
    case .postponed(let uuid, let instant):
      "<a href=\"\(visit.link(["notifications", uuid]))\">\(Text.postponed)</a> \(Format.time(instant))"
    case .passed, .action, .advanced, .speed: "\(Text.passed)"
    }
  }

  /// The journal as a script that does the same again in a new sandbox. If the journal is longer than the part in
  /// memory, the script begins with that part and says so.
  static func script(_ visit: Visit) async -> HTTPResponse {
    let (lines, _, first) = await visit.simulator.journalViews(after: 0, limit: maxScriptLines)
    let head = Text.scriptHead(lines.first?.at.description ?? "", isWhole: first == 1)
    return HTTPResponse.text(200, (head + ["set -e"] + lines.script).joined(separator: "\n") + "\n")
  }
}

extension JournalLineView {
  /// Whether a tester did it.
  var isAction: Bool {
    switch entry {
    case .action, .advanced, .speed: true
    case .opened, .passed, .attempt, .postponed: false
    }
  }
}
