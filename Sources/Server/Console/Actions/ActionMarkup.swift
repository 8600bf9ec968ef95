internal import Bytes
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// An error about one field of a form.
struct FieldProblem: Sendable {
  /// The name of the field in the form.
  let name: String
  let message: String

  /// The problem of an error whose field is one of `fields`, also under its name in the contract; `nil` for others.
  init?(_ error: Status, in fields: [ActionField]) {
    guard let field = error.field else { return nil }
    let names = [field, field.hasSuffix("_id") ? String(field.dropLast(3)) : field]
    guard let found = fields.first(where: { names.contains($0.name) }) else { return nil }
    if found.isHidden { return nil }
    (name, message) = (found.name, error.message)
  }
}

extension ActionField {
  /// Whether its control has no line ends.
  fileprivate var isOneLine: Bool {
    if case .text = kind { true } else { false }
  }
}

/// The forms of actions.
enum ActionMarkup {
  /// The empty or filled-in form. `entitlements` are offered instead of a text field.
  static func form(
    _ action: ActionName, _ fields: [ActionField], _ form: ActionForm, _ scope: Scope,
    entitlements: [String], problem: FieldProblem? = nil
  ) -> Markup {
    let inputs = fields.map { field -> Markup in
      let message = problem.flatMap { $0.name == field.name ? $0.message : nil }
      guard field.name == "entitlement", !entitlements.isEmpty else {
        return input(field, form[field.name], problem: message)
      }
      var choice = field
      choice.kind = .choice(entitlements.map { ($0, $0) })
      return input(choice, form[field.name], problem: message)
    }
    return """
      <form class="form" method="post" action="\(scope.action(action))">
      \(inputs)<p class="row"><button class="primary">\(Text.preview)</button> \(cancel(form, scope))</p>
      </form>
      """
  }

  private static func input(_ field: ActionField, _ value: String, problem: String?) -> Markup {
    let error: Markup =
      problem.map { "<p class=\"problem\" id=\"\(field.name)-error\">\($0)</p>\n" } ?? ""
    let hint: Markup =
      (field.hint.isEmpty ? "" : "<p class=\"hint\" id=\"\(field.name)-hint\">\(field.hint)</p>\n") + error
    let ids = [problem == nil ? "" : "\(field.name)-error", field.hint.isEmpty ? "" : "\(field.name)-hint"]
      .filter { !$0.isEmpty }.joined(separator: " ")
    let invalid: Markup = problem == nil ? "" : " aria-invalid=\"true\""
    let described: Markup = ids.isEmpty ? "" : "\(invalid) aria-describedby=\"\(ids)\""
    let required: Markup = field.isRequired ? " required" : ""
    let label: Markup = "<label for=\"\(field.name)\">\(field.label)</label>\n\(hint)"
    if field.keepsWhiteSpace, !ActionForm.canSend(value, inOneLine: field.isOneLine) {
      return "<p>\(field.label): \(Format.name(value))</p>\n\(hint)\(hidden(field.name, value))"
    }
    switch field.kind {
    case .hidden: return hidden(field.name, value)
    case .text:
      return
        "\(label)<input type=\"text\" id=\"\(field.name)\" name=\"\(field.name)\" value=\"\(value)\" maxlength=\"256\" autocomplete=\"off\"\(required)\(described)>\n"
    case .paragraph:
      return
        "\(label)<textarea id=\"\(field.name)\" name=\"\(field.name)\" maxlength=\"4000\"\(required)\(described)>\n\(value)</textarea>\n"
    case .lines:
      return """
        \(label)<textarea id="\(field.name)" name="\(field.name)" rows="10"\(required)\(described)>
        \(value)</textarea>
        <p><input type="file" accept=".csv,.txt,text/csv,text/plain" data-fills="\(field.name)" aria-label="\(Text.fileOf(field.label))"></p>

        """
    case .check:
      let checked: Markup = value == "1" ? " checked" : ""
      return
        "<p class=\"check\"><input type=\"checkbox\" id=\"\(field.name)\" name=\"\(field.name)\" value=\"1\"\(checked)\(described)><label for=\"\(field.name)\">\(field.label)</label></p>\n\(hint)"
    case .choice(let options):
      let items = options.map { option, label in
        let selected: Markup = option == value ? " selected" : ""
        return "<option value=\"\(option)\"\(selected)>\(label)</option>\n" as Markup
      }
      return "\(label)<select id=\"\(field.name)\" name=\"\(field.name)\"\(described)>\n\(items)</select>\n"
    }
  }

  /// Draws the effects that the action would have, and the button that performs it.
  static func preview(
    _ action: ActionName, _ preview: ActionPreview, _ form: ActionForm, _ scope: Scope, token: String,
    hasChanged: Bool
  ) -> Markup {
    let lines = preview.lines.map { "<p>\(Format.sentence($0))</p>\n" as Markup }
    let reason: Markup =
      form["note"].given.map { "<p class=\"quiet\">\(Text.reasonLabel): \(Format.name($0))</p>\n" } ?? ""
    let events = preview.events?.map { event in
      """
      <h3>\(Format.name(event.customerId)) \(Part.chip(Format.words(event.type), Tone(event: event.type))) \
      \(Format.name(event.entitlement))</h3>
      <p>\(event.explanation)</p>
      \(EventPage.change(event))

      """ as Markup
    }
    let state = preview.customers.prefix(20).map { customer in
      "<input type=\"hidden\" name=\"state\" value=\"\(PercentEncoding.encode(customer))\">\n" as Markup
    }
    let button: Markup = action.isIrreversible ? "danger" : "primary"
    return """
      \(hasChanged
        ? "<p class=\"notice\" role=\"alert\">\(Text.changedSince)</p>" : "<p class=\"quiet\">\(Text.notDoneYet)</p>")
      <h2>\(Text.effects)</h2>
      \(lines)\(preview.notices)\(preview.payload.isEmpty ? "" : "<h3>\(Text.sentToApple)</h3><pre tabindex=\"0\">\(preview.payload)</pre>")
      \(events?.isEmpty == true ? "<p class=\"quiet\">\(Text.noChange)</p>" : "\(events ?? [])")
      \(reason)\
      <form method="post" action="\(scope.action(action))">
      \(hidden(form))\(state)<input type="hidden" name="token" value="\(token)">
      <p class="row actions"><button class="\(button)">\(Text.confirm(action, form))</button> \
      <button name="edit" value="1">\(Text.change)…</button> \(cancel(form, scope))</p>
      </form>
      """
  }

  /// The way back without the action: to its customer, its purchase or the work lists.
  private static func cancel(_ form: ActionForm, _ scope: Scope) -> Markup {
    let link =
      form["customer"].given.map(scope.customer) ?? form["purchase"].given.map(scope.purchase) ?? scope.work()
    return "<a class=\"button\" href=\"\(link)\">\(Text.cancel)</a>"
  }

  private static func hidden(_ form: ActionForm) -> [Markup] {
    form.values.sorted { $0.key < $1.key }.map { hidden($0.key, $0.value) }
  }

  /// A hidden field. A value that no control can have is encoded.
  private static func hidden(_ name: String, _ value: String) -> Markup {
    ActionForm.canSend(value, inOneLine: false)
      ? "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">\n"
      : "<input type=\"hidden\" name=\"\(ActionForm.encodedName(name))\" value=\"\(PercentEncoding.encode(value))\">\n"
  }

  /// A notice if ids in a list begin or end with white space.
  static func outerSpaces(of ids: [String]) -> [Markup] {
    let found = ids.filter(\.hasOuterSpace)
    return found.first.map { id in
      ["<p class=\"notice\">\(Text.idsWithOuterSpace(found.count)) \(Format.name(id))</p>\n"]
    } ?? []
  }

  /// A notice for each typed value that begins or ends with white space, because it may be there by mistake.
  static func outerSpaces(of fields: [ActionField], _ form: ActionForm) -> [Markup] {
    fields.filter { $0.keepsWhiteSpace && form[$0.name].hasOuterSpace }.map { field in
      "<p class=\"notice\">\(Text.hasOuterSpace(field.label)) \(Format.name(form[field.name]))</p>\n"
    }
  }

  /// The progress, and the form that continues. Scripts send it at once.
  static func progress(
    _ action: ActionName, _ rest: ActionRest, _ form: ActionForm, _ scope: Scope, token: String
  ) -> Markup {
    """
    <p class="notice" role="status">\(Text.partOf(rest.done, rest.total)) \
    <progress value="\(rest.done)" max="\(rest.total)" aria-label="\(action.title)"></progress></p>
    <form method="post" action="\(scope.action(action))" data-continues>
    \(hidden(form))<input type="hidden" name="token" value="\(token)">
    <p class="row actions"><button class="primary">\(Text.continueAction)</button></p>
    </form>
    """
  }

  /// Instructions after a failure in the middle of an action.
  static func partlyDone(_ action: ActionName, _ form: ActionForm, _ scope: Scope) -> Markup {
    let batch = action == .undoBatch ? nil : form["batch"].given
    let undo = batch.map { scope.action(.undoBatch, [("batch", $0)]) }
    return """
      <p class="notice row">\(Text.partlyDone) \
      \(undo.map { "<a class=\"button\" href=\"\($0)\">\(ActionName.undoBatch.title)…</a>" as Markup } ?? "")</p>

      """
  }
}
