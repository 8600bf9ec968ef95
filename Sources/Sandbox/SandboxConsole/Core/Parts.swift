internal import AppStore
internal import Markup
internal import Pages
internal import Sandbox

extension Format {
  /// An amount with its currency.
  static func money(_ money: MoneyView) -> String { self.money(milliunits: money.milliunits, money.currency) }

  /// `5 minutes`, `2 days`, in the largest unit that is exact to a tenth.
  static func length(_ milliseconds: Int64) -> String {
    let units: [(size: Int64, text: (String) -> String)] = [
      (86_400_000, Text.lengthInDays), (3_600_000, Text.lengthInHours), (60_000, Text.lengthInMinutes),
      (1_000, Text.lengthInSeconds),
    ]
    guard let unit = units.first(where: { milliseconds >= $0.size }) else {
      return Text.milliseconds(milliseconds)
    }
    return unit.text(("\(Double(milliseconds) / Double(unit.size))" as Markup).description)
  }

  /// The length of subscription periods, in words.
  static func rate(_ rate: TimeScaleView) -> String {
    switch rate {
    case .calendar: Text.calendarRate
    case .compressed(let month): Text.compressedRate(length(month))
    case .testFlight: Text.testFlightRate
    }
  }
}

extension ProductView {
  /// The price, with the period of a subscription.
  var priceText: String {
    guard let price else { return Text.noPrice }
    let money = Format.money(price)
    return product.period.map { Text.price(money, for: Format.period($0)) } ?? money
  }
}

extension Tone {
  /// The color and sign of a purchase's state.
  init(_ state: PurchaseView.State) {
    self =
      switch state {
      case .active, .owned: .full
      case .grace: .grace
      case .retry: .retry
      case .ended: .ended
      case .revoked, .refunded: .none
      }
  }
}

extension Part {
  /// A purchase in a few words: the product and its state.
  static func holding(_ purchase: PurchaseView) -> Markup {
    var words = "\(purchase.productId), \(Text.state(purchase.state))"
    if purchase.ownership != .purchased { words += ", \(Text.ownership(purchase.ownership))" }
    return chip(words, Tone(purchase.state))
  }

  /// Draws a chip with the response to a notification.
  static func delivery(_ notification: NotificationView) -> Markup {
    guard let last = notification.attempts.last else {
      return notification.nextAttempt == nil ? chip(Text.notSent, .ended) : chip(Text.pending, .grace)
    }
    let isSuccess = last.result == .success
    let answer = last.status.map { String($0) } ?? Text.result(last.result)
    let time = last.milliseconds.map { " \(Text.inMilliseconds($0))" } ?? ""
    let next: Markup =
      notification.nextAttempt.map { " <span class=\"quiet\">\(Text.next) \(Format.time($0))</span>" } ?? ""
    return chip(answer, isSuccess ? .full : .none) + "<span class=\"quiet\">\(time)</span>" + next
  }

  /// A table of notifications, latest first.
  static func notifications(_ views: [NotificationView], _ visit: Visit, withAccount: Bool = true) -> Markup {
    let rows = views.map { view in
      [
        Format.time(view.date), "<a href=\"\(visit.link(["notifications", view.uuid]))\">\(view.name)</a>",
        withAccount
          ? view.account.map { visit.accountLink($0) } ?? "" : nil,
        "\(view.productId ?? "")", delivery(view),
      ].compactMap { $0 } as [Markup]
    }
    let heads =
      [Text.when, Text.notification] + (withAccount ? [Text.account] : []) + [Text.productHead, Text.answer]
    return Table.markup(Text.notificationsTitle, heads: heads, rows: rows)
  }

  /// A notification as an item of a list.
  static func item(_ view: NotificationView, _ visit: Visit) -> Markup {
    """
    <li><a href="\(visit.link(["notifications", view.uuid]))">\(view.name)</a> \
    \(view.account.map(Format.name) ?? "") \(delivery(view))</li>

    """
  }

  /// The accounts that a field named by the list `accounts` offers.
  static func accountOptions(_ accounts: [AccountView]) -> Markup {
    let names = accounts.map { "<option value=\"\($0.name)\"></option>\n" as Markup }
    return "<datalist id=\"accounts\">\(names)</datalist>"
  }

  /// A command, and the same call with `curl` on demand.
  static func command(_ command: CommandText) -> Markup {
    guard let entitled = command.entitled else { return "<code>\(command.curl)</code>" }
    return """
      <code>\(entitled)</code>
      <details class="commands"><summary>\(Text.asCurl)</summary><pre tabindex="0">\(command.curl)</pre></details>
      """
  }

  /// The commands behind the buttons of a part of a page.
  static func commands(_ commands: [CommandText]) -> Markup {
    guard !commands.isEmpty else { return "" }
    let text = commands.map(\.preferred).joined(separator: "\n")
    return
      "<details class=\"commands\"><summary>\(Text.asCommands)</summary><pre tabindex=\"0\">\(text)</pre></details>"
  }
}
