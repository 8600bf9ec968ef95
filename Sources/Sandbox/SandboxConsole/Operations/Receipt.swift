internal import Markup
internal import Pages
internal import Sandbox

/// The action before a page, as its address names it: a redirect carries the result from the form to the next page
/// without a session.
enum Receipt {
  /// The longest list of notifications, and of answers.
  private static let limit = 12

  /// The items of an address that name an operation, the last line of the journal before it, and the last change of an answer
  /// before it; `nil` if changes are not shown.
  static func query(
    _ operation: Operation, after number: Int, change: Int64?
  ) -> [(name: String, value: String?)] {
    [("did", operation.name), ("since", String(number)), ("change", change.map { String($0) })]
  }

  /// The operation, its command, and the notifications and answers that followed; empty without one.
  static func notice(_ visit: Visit) async -> Markup {
    guard let operation = visit.value("did").flatMap({ Operation($0) }),
      let since = visit.value("since").flatMap({ Int($0) })
    else { return "" }
    let lines = await visit.simulator.journalViews(after: since, limit: 200).views
    let commands = lines.compactMap { $0.command(at: visit.target) }
    let notifications = lines.flatMap(\.notifications).filter { $0.app == visit.app.id }
    let items = notifications.prefix(limit).map { Part.item($0, visit) }
    let more: Markup =
      notifications.count > limit
      ? "<li><a href=\"\(visit.link(["journal"], [("after", String(since))]))\">\(Text.more(notifications.count - limit))</a></li>"
      : ""
    let command: Markup =
      commands.count == 1 ? "<pre tabindex=\"0\">\(commands[0].preferred)</pre>" : Part.commands(commands)
    return """
      <div class="notice done" role="status"><p><strong>\(Text.done(Text.title(operation)))</strong> \
      \(notifications.isEmpty ? Text.noNotification : Text.followed(notifications.count))</p>
      \(items.isEmpty ? "" : "<ul>\n\(items)\(more)</ul>")
      \(await answers(visit))
      \(command)</div>
      """
  }

  /// The answers of the service in the same process that changed since the operation; empty without one.
  private static func answers(_ visit: Visit) async -> Markup {
    guard let service = visit.answers, let number = visit.value("change").flatMap({ Int64($0) }),
      await service.lastChange(of: visit.app.id) != nil
    else { return "" }
    // Several events can report the same change.
    let changes = await service.changes(of: visit.app.id, after: number, limit: 10 * limit)
      .reduce(into: [AnswerChange]()) { if !$0.contains($1) { $0.append($1) } }
    guard !changes.isEmpty else { return "<p class=\"answers\">\(Text.sameAnswers)</p>" }
    let items = changes.prefix(limit).map { change in
      let before: Markup = change.before == change.after ? "" : "\(chip(change.before)) → "
      return """
        <li>\(Format.name(change.customer)), <strong>\(Format.name(change.entitlement))</strong>: \
        \(before)\(chip(change.after))</li>

        """ as Markup
    }
    let more: Markup = changes.count > limit ? "<li>\(Text.more(changes.count - limit))</li>" : ""
    return "<p>\(Text.newAnswers)</p>\n<ul class=\"answers\">\n\(items)\(more)</ul>"
  }

  /// An answer with its color and sign.
  private static func chip(_ answer: AnswerChange.Answer) -> Markup {
    let tone = Tone(reason: answer.reason, entitled: answer.isEntitled)
    return Part.chip("\(tone.sign) \(Format.words(answer.reason))", tone)
  }
}
