internal import AppStore
internal import Markup
internal import Pages
internal import Sandbox

/// All accounts of an app.
enum AccountsPage {
  private static let limit = 100

  /// At most 100 accounts, in the order of their names.
  static func page(_ visit: Visit) async -> Page {
    let after = visit.value("after") ?? ""
    let (views, total) = await visit.simulator.accountViews(in: visit.app.id, after: after, limit: limit)
    let next = Part.next(views.count == limit ? views.last?.name ?? "" : "") {
      visit.link(["accounts"], [("after", $0)])
    }
    let body: Markup = """
      <h1>\(Text.accounts)</h1>
      <p>\(Text.accountsHint(total))</p>
      \(table(views, visit, back: ["accounts"]))
      \(next)
      <p class="row">\(Part.link(.action(.purchases), [], visit, label: Text.buyForNewAccount))\
      \(Part.link(.call(.live), [], visit, back: ["accounts"]))</p>
      \(Part.commands(commands(views, visit)))
      """
    return Page(title: Text.accounts, section: .accounts, body: body)
  }

  /// A table of accounts with the buttons that are used most.
  static func table(_ views: [AccountView], _ visit: Visit, back: [String]) -> Markup {
    guard !views.isEmpty else { return Part.empty(Text.noAccounts) }
    let rows = views.map { view in
      [
        visit.accountLink(view.name), holdings(view),
        "\(view.family.map { Text.inFamily($0) } ?? "")", "\(view.transactionCount)",
        "<div class=\"row\">\(billing(view, visit, back))\(buttons(view, visit))</div>",
      ] as [Markup]
    }
    return Table.markup(
      Text.accounts, heads: [Text.account, Text.owns, Text.family, Text.transactions, Text.actions],
      rows: rows)
  }

  /// The latest purchases that count now, or the last one of the past.
  private static func holdings(_ view: AccountView) -> Markup {
    let current = view.purchases.filter { [.active, .grace, .retry, .owned].contains($0.state) }
    let shown = current.isEmpty ? view.purchases.suffix(1) : current.suffix(4)
    let chips = shown.map { Part.holding($0) }.joined(separator: " ")
    let more: Markup =
      current.count > shown.count
      ? " <span class=\"quiet\">\(Text.more(current.count - shown.count))</span>" : ""
    return chips + more
  }

  /// The button that lets charges fail or succeed.
  static func billing(_ view: AccountView, _ visit: Visit, _ back: [String]) -> Markup {
    Part.button(
      view.chargesFail ? Text.acceptCharges : Text.declineCharges, .action(.billing),
      [("account", view.name), ("fails", view.chargesFail ? "false" : "true")], visit, back: back)
  }

  /// What is done most often with an account.
  private static func buttons(_ view: AccountView, _ visit: Visit) -> Markup {
    let refund: Markup =
      view.purchases.last(where: { $0.ownership == .purchased && $0.state != .refunded }).map {
        Part.link(
          .action(.refund), [("transactionId", $0.transactionId)], visit, back: ["accounts", view.name],
          label: Text.refund)
      } ?? ""
    let buy: Markup =
      "<a class=\"button\" href=\"\(visit.link(["shop"], [("account", view.name)]))\">\(Text.buy)…</a>\n"
    return buy + refund
  }

  /// The commands behind the buttons of the first accounts.
  static func commands(_ views: [AccountView], _ visit: Visit) -> [CommandText] {
    views.prefix(12).map { view in
      Part.command(
        .action(.billing), [("account", view.name), ("fails", view.chargesFail ? "false" : "true")], visit)
    }
  }
}
