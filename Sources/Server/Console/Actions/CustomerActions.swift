internal import Markup
internal import Pages
internal import Wire

/// The buttons of a customer's page. A button that would be refused is not drawn.
enum CustomerActions {
  static func bar(_ data: CustomerData, ticket: String, _ visit: Visit) -> Markup {
    let values: [(name: String, value: String?)] = [("customer", data.id)]
    let grant: Markup =
      ActionName.grant.isOpen(to: visit)
      ? "<a class=\"button primary\" data-key-a href=\"\(data.scope.action(.grant, values))\">\(ActionName.grant.title)… <kbd>a</kbd></a>\n"
      : ""
    let latest = data.transactions.max { ($0.purchaseDate?.seconds ?? 0) < ($1.purchaseDate?.seconds ?? 0) }
    let refresh: Markup =
      latest.flatMap { transaction in
        guard ActionName.refresh.isOpen(to: visit) else { return nil }
        let link = data.scope.action(.refresh, values + [("transaction", transaction.transactionId)])
        return "<a class=\"button\" href=\"\(link)\">\(Text.askAppleAgain)</a>\n"
      } ?? ""
    func link(_ action: ActionName) -> Markup {
      guard action.isOpen(to: visit) else { return "" }
      let style: Markup = action.isIrreversible ? " class=\"danger\"" : ""
      return "<a\(style) href=\"\(data.scope.action(action, values))\">\(action.title)…</a>\n"
    }
    // The action without undo comes last.
    return """
      <div class="row actions">\(grant)\(refresh)<details class="more"><summary>\(Text.more)</summary>
      <div class="menu">\([ActionName.link, .merge, .addNote, .setAttribute, .consent].map(link))\
      <p><button type="button" data-action="ticket">\(Text.copyForTicket)</button></p>
      <span hidden data-ticket="\(ticket)"></span>\(link(.erase))</div></details>
      \(EventsSincePage.button(data))</div>
      """
  }

  /// The actions on one purchase of a customer's page.
  static func purchase(
    _ lane: HistoryLane, _ product: CustomerProduct?, _ data: CustomerData, _ visit: Visit
  ) -> Markup {
    guard lane.kind == .purchase else { return "" }
    var actions: [ActionName] = [.transfer]
    if product?.renewalInfo?.originalTransactionId == lane.name { actions.append(.extend) }
    return actions.filter { $0.isOpen(to: visit) }.map { action in
      "<a href=\"\(data.scope.action(action, [("purchase", lane.name), ("customer", data.id)]))\">\(Text.short(action))…</a>"
        as Markup
    }.joined(separator: " ")
  }
}
