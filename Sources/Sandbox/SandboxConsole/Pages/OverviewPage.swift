internal import AppStore
internal import Markup
internal import Pages
internal import Sandbox

/// The clock, the accounts and the latest notifications.
enum OverviewPage {
  private static let accounts = 12
  private static let notifications = 10

  /// `GET …`, the first page of an app.
  static func page(_ visit: Visit) async -> Page {
    let (views, total) = await visit.simulator.accountViews(in: visit.app.id, limit: accounts)
    let (sent, sentTotal) = await visit.simulator.notificationViews(of: visit.app.id, limit: notifications)
    let settings = await visit.simulator.settingsView(of: visit.app.id)
    let body: Markup = """
      <h1>\(Text.overviewTitle(visit.app.id))</h1>
      <section class="panel"><h2 id="time">\(Text.time)</h2>
      \(ClockPart.markup(visit, rate: settings.rate))</section>
      <section class="panel"><h2 id="accounts-title">\(Text.accounts)</h2>
      \(AccountsPage.table(views, visit, back: []))
      <p class="row">\(Part.link(.action(.purchases), [], visit, label: Text.buyForNewAccount))
      <a href="\(visit.link(["shop"]))">\(Text.toShop)</a>
      \(total > views.count ? "<a href=\"\(visit.link(["accounts"]))\">\(Text.allAccounts(total))</a>" : "")</p>
      \(Part.commands(AccountsPage.commands(views, visit)))</section>
      <section class="panel"><h2 id="sent">\(Text.sentTitle)</h2>
      \(NotificationsPage.target(settings, visit))
      \(sent.isEmpty ? Part.empty(Text.nothingSent) : Part.notifications(sent, visit))
      \(sentTotal > sent.count ? "<p><a href=\"\(visit.link(["notifications"]))\">\(Text.allNotifications(sentTotal))</a></p>" : "")
      </section>
      <section class="panel"><h2 id="scenarios">\(Text.scenarios)</h2>
      <p>\(Text.scenariosHint)</p>
      \(ScenariosPage.buttons(visit))</section>
      """
    return Page(title: Text.overview, section: .overview, body: body)
  }
}

/// The simulated time with its buttons.
enum ClockPart {
  private static let steps: [(by: String, label: String)] = [
    ("1h", Text.oneHour), ("1d", Text.oneDay), ("7d", Text.oneWeek), ("31d", Text.oneMonth),
  ]
  private static let speeds: [Int64] = [0, 1, 60, 3_600, 86_400]

  /// The clock with the buttons that advance it, and its rate.
  static func markup(_ visit: Visit, rate: TimeScaleView) -> Markup {
    let steps = steps.map { step in
      Part.button(step.label, .call(.advance), [("by", step.by)], visit, back: [])
    }
    let others = speeds.filter { $0 != visit.clock.speed }.map { speed in
      Part.button(Text.speed(speed), .call(.speed), [("speed", String(speed))], visit, back: [])
    }
    return """
      <p class="clock">\(Format.time(visit.clock.now)) <span data-zone>UTC</span></p>
      <div class="row">\(steps)\(next(visit))\
      \(Part.link(.call(.advance), [], visit, back: [], label: Text.advanceTo))</div>
      <p class="quiet">\(Text.runsAt(Text.speed(visit.clock.speed))) · \(Text.onlyForward) · \(Format.rate(rate))
      <a href="\(visit.form(.action(.periods), [("_back", Link([]).text)]))">\(Text.changeRate)</a></p>
      <details><summary>\(Text.changeSpeed)</summary><div class="row">\(others)</div></details>
      \(Part.commands(commands(visit)))
      """
  }

  private static func next(_ visit: Visit) -> Markup {
    guard let next = visit.clock.next, next.at >= visit.clock.now else {
      return "<span class=\"quiet\">\(Text.nothingNext)</span>\n"
    }
    return Part.button(
      Text.toNext(next), .call(.advance), [("to", next.at.description)], visit, back: [], isPrimary: true,
      key: "n")
  }

  private static func commands(_ visit: Visit) -> [CommandText] {
    let moments = steps.map { ("by", $0.by) } + (visit.clock.next.map { [("to", $0.at.description)] } ?? [])
    return moments.map { Part.command(.call(.advance), [(name: $0.0, value: $0.1)], visit) }
  }
}
