internal import HTTP
internal import Markup
internal import Pages

/// The last action, in the address of the page that follows. A token proves that this service wrote it, so
/// that no link can make the page say something else.
struct ActionReceipt: Sendable {
  /// The action that reverts it, with the values of its form.
  struct Undo: Sendable {
    let action: ActionName
    let values: [(name: String, value: String?)]

    /// Selects what to revert by one value; `nil` without it.
    init?(_ action: ActionName, _ name: String, _ value: String) {
      guard !value.isEmpty else { return nil }
      self.init(action, [(name, value)])
    }

    init(_ action: ActionName, _ values: [(name: String, value: String?)]) {
      self.action = action
      self.values = values
    }
  }

  let action: ActionName
  let text: String
  /// `nil`: nothing reverts the action.
  let undo: Undo?
  /// The customer of the action; empty without one.
  let customer: String

  /// The receipt of an action that was performed just now.
  init(action: ActionName, text: String, undo: Undo?, customer: String) {
    self.action = action
    self.text = text
    self.undo = undo
    self.customer = customer
  }

  /// The receipt in the query of a page; `nil` without a valid one.
  init?(_ visit: Visit) {
    let values = Self.names.map { visit.query[$0] ?? "" }
    guard let action = ActionName(rawValue: values[0]),
      visit.tokens.accepts(visit.query["proof"], for: visit.person, ["receipt"] + values, at: visit.now)
    else { return nil }
    let fields = Query(values[3])
    let undo = ActionName(rawValue: values[2]).map { action in
      Undo(action, Action.named(action).fields.map { ($0.name, fields[$0.name]) })
    }
    self.init(action: action, text: values[1], undo: undo, customer: values[4])
  }

  /// The receipt as query items for the page that follows, with the proof that this service wrote it.
  func query(_ visit: Visit) -> [(name: String, value: String?)] {
    let values = [
      action.rawValue, text, undo?.action.rawValue ?? "",
      undo.map { String(Link([], query: $0.values).text.dropFirst(2)) } ?? "", customer,
    ]
    let proof = visit.tokens.token(for: visit.person, ["receipt"] + values, at: visit.now)
    return zip(Self.names, values).map { ($0, $1) } + [("proof", proof)]
  }

  private static let names = ["done", "text", "undo", "with", "of"]

  /// The notice on the page that follows.
  func notice(in scope: Scope, _ visit: Visit) -> Markup {
    var button: Markup = ""
    if let undo, undo.action.isOpen(to: visit) {
      let values = undo.values.filter { $0.name != "customer" } + [("customer", customer.given)]
      let link = scope.action(undo.action, values)
      button = "<a class=\"button\" href=\"\(link)\">\(Text.undo)…</a>"
    }
    return """
      <p class="notice row" role="status"><strong>\(Text.didIt(action.title))</strong> \(text) \(button)</p>
      """
  }
}
