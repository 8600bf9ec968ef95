internal import AppStore
internal import Markup
internal import Pages
internal import Sandbox

/// One account: what it owns, what it had, and everything that it can do.
enum AccountPage {
  private static let notifications = 50

  /// `nil` for an account that does not exist.
  static func page(_ name: String, _ visit: Visit) async -> Page? {
    guard let (account, history) = await visit.simulator.accountView(name, in: visit.app.id) else {
      return nil
    }
    let back = ["accounts", name]
    let purchases = account.purchases.reversed().map { purchase($0, visit, back) }
    let body: Markup = """
      <h1>\(Format.id(name))</h1>
      \(facts(account, visit))
      <div class="row actions">\(buttons(account, visit, back))</div>
      \(AccountLanes.section(account, history, visit))
      <h2>\(Text.owns)</h2>
      \(purchases.isEmpty ? Part.empty(Text.ownsNothing) : "<div class=\"cards\">\n\(purchases)</div>")
      \(requests(account, visit, back))
      \(transactions(history, visit, back))
      <h2>\(Text.notificationsTitle)</h2>
      \(history.notifications.isEmpty ? Part.empty(Text.nothingSent) : Part.notifications(history.notifications.suffix(notifications).reversed(), visit, withAccount: false))
      <h2>\(Text.sameAsCommand)</h2>
      \(Part.commands(commands(account, visit)))
      """
    return Page(title: name, section: .accounts, body: body)
  }

  /// What is true of the account itself: country, charges, family and rate.
  private static func facts(_ account: AccountView, _ visit: Visit) -> Markup {
    let relatives = account.relatives.map(visit.accountLink)
    let items: [Markup] = [
      "\(Text.field("storefront")) \(account.storefront)",
      account.chargesFail ? Part.chip(Text.chargesFail, .retry) : Part.chip(Text.chargesSucceed, .full),
      account.family.map { "\(Text.inFamily($0)) \(relatives.joined(separator: ", "))" } ?? "",
      "\(Format.rate(account.rate))",
    ]
    return "<ul class=\"facts\">\(items.filter { !$0.isEmpty }.map { "<li>\($0)</li>\n" as Markup })</ul>"
  }

  /// What the customer can do without naming a purchase.
  private static func buttons(_ account: AccountView, _ visit: Visit, _ back: [String]) -> Markup {
    let name: [(name: String, value: String?)] = [("account", account.name)]
    let other: [Action] = [
      .storefront, .joinFamily, .restore, .download, .periods, .rescindConsent, .clearHistory,
    ]
    let links = other.map { Part.link(.action($0), name, visit, back: back) }
    let leave: Markup =
      account.family == nil
      ? ""
      : Part.button(Text.leaveFamily, .action(.leaveFamily), [("account", account.name)], visit, back: back)
    return """
      <a class="button primary" href="\(visit.link(["shop"], [("account", account.name)]))">\(Text.buy)…</a>
      \(AccountsPage.billing(account, visit, back))\(leave)
      <details class="more"><summary>\(Text.more)</summary><div class="menu">\(links)</div></details>
      """
  }

  // MARK: Purchases

  /// The card of one purchase.
  private static func purchase(_ purchase: PurchaseView, _ visit: Visit, _ back: [String]) -> Markup {
    let tone = Tone(purchase.state)
    let until: Markup =
      purchase.until.map {
        "<p>\(Text.until(purchase.state)) \(Format.time($0)) <span data-zone>UTC</span></p>"
      } ?? ""
    return """
      <section class="card \(tone.rawValue)"><h3>\(Format.name(purchase.productId)): \
      <span>\(tone.sign) \(Text.state(purchase.state))</span></h3>
      \(until)\(renewal(purchase))\(seats(purchase, visit))
      <p class="meta">\(Text.ownership(purchase.ownership)) · \(Format.id(purchase.transactionId))</p>
      <div class="row">\(actions(purchase, visit, back))</div></section>

      """
  }

  /// What the next renewal will be.
  private static func renewal(_ purchase: PurchaseView) -> Markup {
    guard let renewal = purchase.renewal else { return "" }
    let next =
      renewal.isOn
      ? Text.renewsTo(renewal.productId, Format.money(renewal.price)) : Text.renewalOff
    let payment = renewal.payment.map { " · " + Text.payment($0) } ?? ""
    let increase = renewal.pendingPrice.map {
      "<p>\(Part.chip(Text.asksConsent(Format.money($0)), .grace))</p>" as Markup
    }
    return "<p>\(next)\(payment)</p>\(increase ?? "")"
  }

  /// The seats and those who have them.
  private static func seats(_ purchase: PurchaseView, _ visit: Visit) -> Markup {
    guard let seats = purchase.seats else { return "" }
    let accounts = seats.accounts.map(visit.accountLink)
    return
      "<p>\(Text.seatCount(seats.count, seats.accounts.count + seats.claims.count)) \(accounts.joined(separator: ", "))</p>"
  }

  /// The buttons of a purchase: those that need no more, then the forms.
  private static func actions(_ purchase: PurchaseView, _ visit: Visit, _ back: [String]) -> Markup {
    let id = purchase.transactionId
    guard purchase.ownership == .purchased else { return "" }
    var direct: [Markup] = []
    if let renewal = purchase.renewal {
      direct.append(
        Part.button(
          renewal.isOn ? Text.turnRenewalOff : Text.turnRenewalOn, .action(.autoRenew),
          [("transactionId", id), ("enabled", renewal.isOn ? "false" : "true")], visit, back: back))
      if renewal.pendingPrice != nil {
        direct.append(
          Part.button(
            Text.agree, .action(.priceConsent), [("transactionId", id), ("agreed", "true")], visit, back: back
          ))
      }
    }
    let isPaid = purchase.state != .refunded && purchase.state != .revoked
    let forms: [Action] = isPaid ? [.requestConsumption, .refund] : [.reverseRefund]
    var rest: [Action] = [
      .declineRefund, .share, .stopSharing, .setAppAccountToken, .finish, .reportConsumption,
    ]
    if purchase.renewal != nil { rest = [.extend, .seats] + rest }
    if purchase.seats != nil {
      rest = [.assignSeat, .unclaimSeat, .claimSeat, .releaseSeat, .refundSeats] + rest
    }
    let values: [(name: String, value: String?)] = [("transactionId", id)]
    let links = rest.map { Part.link(.action($0), values, visit, back: back) }
    return """
      \(direct)\(forms.map { Part.link(.action($0), values, visit, back: back) })
      <details class="more"><summary>\(Text.more)</summary><div class="menu">\(links)</div></details>
      """
  }

  /// The purchases that wait for a parent, with two buttons each.
  private static func requests(_ account: AccountView, _ visit: Visit, _ back: [String]) -> Markup {
    guard !account.requests.isEmpty else { return "" }
    let rows = account.requests.map { request in
      let buttons = [true, false].map { approved in
        Part.button(
          approved ? Text.approve : Text.decline, .action(.askToBuy),
          [("request", request.request), ("approved", approved ? "true" : "false")], visit, back: back)
      }
      return [
        Format.time(request.date), "\(request.productId)", "<div class=\"row\">\(buttons)</div>",
      ] as [Markup]
    }
    return "<h2>\(Text.requestsToBuy)</h2>"
      + Table.markup(Text.requestsToBuy, heads: [Text.when, Text.productHead, Text.actions], rows: rows)
  }

  /// The table of transactions, latest first.
  private static func transactions(_ history: AccountHistoryView, _ visit: Visit, _ back: [String]) -> Markup
  {
    guard !history.transactions.isEmpty else { return "" }
    let rows = history.transactions.reversed().map { sold in
      [
        Format.time(sold.date), Format.id(sold.transactionId), "\(Format.name(sold.productId))",
        "\(Format.money(sold.price))\(sold.quantity > 1 ? " (\(Text.times(sold.quantity)))" as Markup : "")",
        "\(sold.expires.map { Format.time($0) } ?? "")", what(sold),
        sold.ownership == .purchased && sold.revoked == nil && sold.price.milliunits > 0
          ? Part.link(
            .action(.refund), [("transactionId", sold.transactionId)], visit, back: back, label: Text.refund)
          : "",
      ] as [Markup]
    }
    let table = Table.markup(
      Text.transactions,
      heads: [
        Text.when, Text.transaction, Text.productHead, Text.price, Text.expires, Text.what, Text.actions,
      ],
      rows: rows)
    return "<h2>\(Text.transactions)</h2>\n\(table)"
  }

  /// What a transaction is, in a few words.
  private static func what(_ sold: TransactionView) -> Markup {
    var chips = [Part.chip(Format.words(sold.reason.rawValue), .ended)]
    if sold.isTrial { chips.append(Part.chip(Text.name(of: .trial), .trial)) }
    if let offer = sold.offer { chips.append(Part.chip(offer, .grant)) }
    if sold.isUpgraded { chips.append(Part.chip(Text.markUpgraded, .ended)) }
    if sold.revoked != nil {
      chips.append(
        Part.chip(sold.revocationType.map { Format.words($0.rawValue) } ?? Text.markRefunded, .none))
    }
    return chips.joined(separator: " ")
  }

  /// The commands behind the buttons of the page.
  private static func commands(_ account: AccountView, _ visit: Visit) -> [CommandText] {
    var commands = AccountsPage.commands([account], visit)
    for purchase in account.purchases where purchase.ownership == .purchased {
      let id = purchase.transactionId
      if let renewal = purchase.renewal {
        commands.append(
          Part.command(
            .action(.autoRenew), [("transactionId", id), ("enabled", renewal.isOn ? "false" : "true")], visit)
        )
      }
      commands.append(Part.command(.action(.refund), [("transactionId", id)], visit))
    }
    return commands
  }
}
