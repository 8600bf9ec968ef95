internal import AppStore
internal import Bytes
internal import HTTP
internal import JSON
internal import Markup
internal import Pages
internal import Sandbox

/// The form of an operation, and its result.
enum OperationPage {
  /// The longest time that a page waits for the delivery of notifications, in milliseconds.
  private static let deliveryWait: Int64 = 2_000

  /// The form of an operation, filled in from the items of the address.
  static func form(_ operation: Operation, _ visit: Visit) async -> Page {
    await page(operation, visit, values: { visit.query[$0] }, problem: nil)
  }

  /// Performs the operation with the fields of the form; the page after it is the one where the form was, or the form
  /// again with the reason, and with the fields as they were.
  ///
  /// It waits for the delivery of notifications, so that the page after it shows their results, at most two seconds.
  static func submit(_ operation: Operation, _ visit: Visit) async -> Outcome {
    let before = await visit.simulator.journalEnd
    let change = await visit.answers?.lastChange(of: visit.app.id)
    let members: JSONObject
    switch read(operation, visit) {
    case .success(let read): members = read
    case .failure(let problem): return await failed(operation, visit, problem.message)
    }
    let response = await visit.simulator.respond(to: operation.call(members).request)
    let answer = try? JSONValue(parsing: response.body).objectValue
    guard response.status == 200 else {
      let message = answer?["error"]?.objectValue?["message"]?.stringValue
      return await failed(operation, visit, message ?? Text.failed(response.status))
    }
    await visit.simulator.deliverDue(waitingAtMost: deliveryWait)
    return .redirect(
      target(operation, members, answer, visit)
        .adding(query: Receipt.query(operation, after: before, change: change)))
  }

  /// The form again, with the reason and status 400.
  private static func failed(_ operation: Operation, _ visit: Visit, _ problem: String) async -> Outcome {
    var page = await page(operation, visit, values: { visit.form[$0] }, problem: problem)
    page.status = 400
    return .page(page)
  }

  /// The reason for which a field cannot be read.
  private struct Problem: Error {
    let message: String
  }

  /// The members of a form: fields that are empty are left out.
  private static func read(_ operation: Operation, _ visit: Visit) -> Result<JSONObject, Problem> {
    var members = JSONObject()
    for field in Field.all(of: operation) {
      if case .app = field.kind {
        members[field.name] = .string(visit.app.id)
        continue
      }
      guard let text = visit.form[field.name].map({ field.trims ? $0.trimmed : $0 })?.given else { continue }
      guard case .json = field.kind else {
        members[field.name] = .string(text)
        continue
      }
      guard let json = try? JSONValue(parsing: text), json.objectValue != nil else {
        return .failure(Problem(message: Text.notJSON(Text.field(field.name))))
      }
      members[field.name] = json
    }
    return .success(members)
  }

  /// The page after an operation: the one with the button, otherwise the page of the account that it concerned.
  private static func target(
    _ operation: Operation, _ members: JSONObject, _ answer: JSONObject?, _ visit: Visit
  ) -> Link {
    // Segments of a path below the app, so no other address can be reached.
    if let back = visit.form["_back"] { return visit.link(Link.segments(ofPath: back)) }
    if operation == .call(.scenario) { return visit.link(["journal"]) }
    if let account = answer?["account"]?.stringValue ?? members["account"]?.stringValue {
      return visit.account(account)
    }
    return visit.link([])
  }

  // MARK: The form

  /// The form with its values, the reason of a failure, and the command that does the same.
  private static func page(
    _ operation: Operation, _ visit: Visit, values: (String) -> String?, problem: String?
  ) async -> Page {
    let fields = Field.all(of: operation).filter { $0.kind != .app }
    let title = Text.title(operation)
    let problemPart: Markup = problem.map { "<p class=\"problem\" role=\"alert\">\($0)</p>" } ?? ""
    let parts = fields.map { $0.markup(values($0.name) ?? "", visit.app.products) }
    let back: Markup =
      values("_back").map { "<input type=\"hidden\" name=\"_back\" value=\"\($0)\">" } ?? ""
    let members = JSONObject(
      Field.all(of: operation).compactMap { field in
        if case .app = field.kind { return (field.name, .string(visit.app.id)) }
        let value = values(field.name)?.given ?? (field.isRequired ? "…" : nil)
        return value.map { (field.name, .string($0)) }
      })
    let command = CommandText(operation.call(members), at: visit.target)
    let body: Markup = """
      <h1>\(title)</h1>
      <p>\(Text.meaning(operation))</p>
      \(problemPart)
      <form class="form" method="post" action="\(visit.form(operation))">
      \(parts)\(back)
      <p class="row"><button class="primary">\(title)</button> <a href="\(visit.link(["do"]))">\(Text.allOperations)</a></p>
      </form>
      \(await suggestions(fields, visit))
      <h2>\(Text.sameAsCommand)</h2>
      \(Part.commands(both: command))
      """
    return Page(title: title, section: .everything, body: body)
  }

  /// The accounts and transactions that the fields offer.
  private static func suggestions(_ fields: [Field], _ visit: Visit) async -> Markup {
    guard fields.contains(where: { [.account, .transaction].contains($0.kind) }) else { return "" }
    let accounts = await visit.simulator.accountViews(in: visit.app.id, limit: 100).views
    let transactions = accounts.flatMap { account in
      account.purchases.map { purchase in
        "<option value=\"\(purchase.transactionId)\">\(account.name), \(purchase.productId)</option>\n"
          as Markup
      }
    }
    return Part.accountOptions(accounts) + "<datalist id=\"transactions\">\(transactions)</datalist>"
  }
}

extension Field {
  /// Whether spaces around the value mean nothing.
  var trims: Bool { name != "publicKey" && name != "password" }
}

extension Part {
  /// A call with this program and with curl.
  static func commands(both command: CommandText) -> Markup {
    let lines = [command.entitled, command.curl].compactMap { $0 }.joined(separator: "\n")
    return "<pre tabindex=\"0\">\(lines)</pre>"
  }

  /// A button that performs an operation at once, and shows its command as a tooltip. `back` are the segments of the page
  /// after it, below the app; `key` is the key that presses it.
  static func button(
    _ label: String, _ operation: Operation, _ members: [(name: String, value: String)], _ visit: Visit,
    back: [String], isPrimary: Bool = false, key: String? = nil
  ) -> Markup {
    let fields = members.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" as Markup }
    let command = Self.command(operation, members, visit).preferred
    let kind: Markup = isPrimary ? " class=\"primary\"" : ""
    let press: Markup = key.map { " data-press=\"\($0)\" aria-keyshortcuts=\"\($0)\"" } ?? ""
    let mark: Markup = key.map { " <kbd>\($0)</kbd>" } ?? ""
    return """
      <form class="inline" method="post" action="\(visit.form(operation))">\(fields)\
      <input type="hidden" name="_back" value="\(Link(back).text)">\
      <button\(kind)\(press) title="\(command)">\(label)\(mark)</button></form>

      """
  }

  /// The command behind a button.
  static func command(
    _ operation: Operation, _ members: [(name: String, value: String)], _ visit: Visit
  ) -> CommandText {
    var json = JSONObject()
    for name in operation.members where name == "app" { json[name] = .string(visit.app.id) }
    for (name, value) in members { json[name] = .string(value) }
    return CommandText(operation.call(json), at: visit.target)
  }

  /// A link to the form of an operation.
  static func link(
    _ operation: Operation, _ members: [(name: String, value: String?)], _ visit: Visit,
    back: [String]? = nil,
    label: String? = nil
  ) -> Markup {
    let query = members + [("_back", back.map { Link($0).text })]
    return
      "<a class=\"button\" href=\"\(visit.form(operation, query))\">\(label ?? Text.title(operation))…</a>\n"
  }
}

/// The forms of all operations.
enum OperationsPage {
  /// The list of all operations.
  static func page(_ visit: Visit) -> Page {
    let rows = Operation.all.map { operation in
      [
        "<a href=\"\(visit.form(operation))\">\(Text.title(operation))</a>", "\(Text.meaning(operation))",
        "<code>\(operation.name)</code>",
      ] as [Markup]
    }
    let body: Markup = """
      <h1>\(Text.everythingTitle)</h1>
      <p>\(Text.everythingHint)</p>
      \(Table.markup(Text.everythingTitle, heads: [Text.what, Text.effect, Text.name], rows: rows))
      """
    return Page(title: Text.everythingTitle, section: .everything, body: body)
  }
}
