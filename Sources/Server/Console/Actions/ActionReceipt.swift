internal import HTTP
internal import Markup
internal import Pages

/// What was done a moment ago, in the address of the page that follows. A token proves that this service wrote it, so
/// that no link can make the page say something else.
struct ActionReceipt: Sendable {
  /// The action that reverts it, with the value that selects what to revert.
  struct Undo: Sendable {
    let action: ActionName
    let name: String
    let id: String
  }

  let action: ActionName
  let text: String
  let undo: Undo?
  /// The customer of the action; empty without one.
  let customer: String

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
      visit.tokens.accepts(visit.query["proof"], for: visit.person, values, at: visit.now)
    else { return nil }
    let undo = ActionName(rawValue: values[2]).map { Undo(action: $0, name: values[3], id: values[4]) }
    self.init(action: action, text: values[1], undo: undo, customer: values[5])
  }

  func query(_ visit: Visit) -> [(name: String, value: String?)] {
    let values = [
      action.rawValue, text, undo?.action.rawValue ?? "", undo?.name ?? "", undo?.id ?? "", customer,
    ]
    let proof = visit.tokens.token(for: visit.person, values, at: visit.now)
    return zip(Self.names, values).map { ($0, $1) } + [("proof", proof)]
  }

  private static let names = ["done", "text", "undo", "field", "id", "of"]

  /// The notice on the page that follows.
  func notice(in scope: Scope, _ visit: Visit) -> Markup {
    var button: Markup = ""
    if let undo, undo.action.isOpen(to: visit), !undo.id.isEmpty {
      let link = scope.action(undo.action, [(undo.name, undo.id), ("customer", customer.given)])
      button = "<a class=\"button\" href=\"\(link)\">\(Text.undo)…</a>"
    }
    return """
      <p class="notice row" role="status"><strong>\(Text.didIt(action.title))</strong> \(text) \(button)</p>
      """
  }
}
