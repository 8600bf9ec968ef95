internal import AppStore
internal import JSON
internal import Markup
internal import Pages
internal import Sandbox

/// All notifications of an app, and where they go.
enum NotificationsPage {
  private static let limit = 100

  /// `GET …/notifications`. `skip` is the number of later notifications to leave out, 100 of which are on a page.
  static func page(_ visit: Visit) async -> Page {
    let skip = visit.value("skip").flatMap { Int($0) }.map { max(0, $0) } ?? 0
    let (views, total) = await visit.simulator.notificationViews(of: visit.app.id, skip: skip, limit: limit)
    let settings = await visit.simulator.settingsView(of: visit.app.id)
    let older = Part.next(skip + views.count < total ? String(skip + limit) : "", Text.older) {
      visit.link(["notifications"], [("skip", $0)])
    }
    let body: Markup = """
      <h1>\(Text.notificationsTitle)</h1>
      \(target(settings, visit))
      \(views.isEmpty ? Part.empty(Text.nothingSent) : Part.notifications(views, visit))
      \(older)
      """
    return Page(title: Text.notificationsTitle, section: .notifications, body: body)
  }

  /// The URLs to which notifications go, and a form that changes them.
  static func target(_ settings: SettingsView, _ visit: Visit) -> Markup {
    let values: [(name: String, value: String?)] = [
      ("url", settings.notificationURL), ("version", String(settings.notificationVersion)),
    ]
    let sentence: Markup =
      settings.notificationURL.map {
        "\(Text.sentTo) \(Format.id($0)) · \(Text.versionOf(settings.notificationVersion)) · \(Text.rules(settings.rules))"
      } ?? "\(Text.sentNowhere)"
    let test: Markup =
      settings.notificationURL == nil
      ? "" : Part.button(Text.sendTest, .action(.testNotification), [], visit, back: ["notifications"])
    return """
      <p>\(sentence)</p>
      <div class="row">\(Part.link(.action(.notificationURL), values, visit, back: ["notifications"], label: Text.setURL))\
      \(Part.link(.action(.delivery), [("rules", settings.rules)], visit, back: ["notifications"], label: Text.delivery))\(test)</div>
      """
  }
}

/// One notification: its content, its delivery, and what came back.
enum NotificationPage {
  /// `nil` for an unknown one.
  static func page(_ uuid: String, _ visit: Visit) async -> Page? {
    guard let (view, content) = await visit.simulator.notificationView(uuid), view.app == visit.app.id else {
      return nil
    }
    let body: Markup = """
      <h1>\(view.name)</h1>
      <p>\(Part.delivery(view))</p>
      \(properties(view, visit))
      <div class="row">\(Part.button(Text.resend, .action(.resendNotification), [("notificationUUID", view.uuid)], visit, back: ["notifications", view.uuid]))</div>
      \(Part.commands([Part.command(.action(.resendNotification), [("notificationUUID", view.uuid)], visit)]))
      <h2>\(Text.attempts)</h2>
      \(attempts(view))
      <h2>\(Text.payload)</h2>
      \(content.map { payload($0.payload) } ?? Part.empty(Text.noContent))
      \(content.map { verbatim($0) } ?? "")
      """
    return Page(title: view.name, section: .notifications, body: body)
  }

  private static func properties(_ view: NotificationView, _ visit: Visit) -> Markup {
    Table.properties([
      (Text.when, Format.time(view.date)), ("notificationUUID", Format.id(view.uuid)),
      (Text.version, "\(view.version)"),
      (Text.account, view.account.map { visit.accountLink($0) }),
      (Text.productHead, view.productId.map(Format.name)),
      (Text.transaction, view.transactionId.map(Format.id)),
      (Text.nextAttempt, view.nextAttempt.map { Format.time($0) }),
    ])
  }

  private static func attempts(_ view: NotificationView) -> Markup {
    guard !view.attempts.isEmpty else { return Part.empty(Text.noAttempt) }
    let rows = view.attempts.map { attempt in
      let response: Markup =
        attempt.response.flatMap(\.given).map { "<pre tabindex=\"0\">\($0)</pre>" }
        ?? "<span class=\"quiet\">\(attempt.response == nil ? Text.notLogged : Text.emptyResponse)</span>"
      return [
        Format.time(attempt.date), attempt.url.map(Format.id) ?? "",
        Part.chip(Text.result(attempt.result), attempt.result == .success ? .full : .none),
        "\(attempt.status.map { String($0) } ?? "")",
        "\(attempt.milliseconds.map { Text.milliseconds($0) } ?? "")",
        response,
      ] as [Markup]
    }
    return Table.markup(
      Text.attempts,
      heads: [Text.when, Text.url, Text.resultHead, Text.status, Text.duration, Text.answer], rows: rows)
  }

  /// A payload as a table, with each document in it as a separate table.
  private static func payload(_ json: JSONObject) -> Markup {
    var inner: [Markup] = []
    var rows: [(String, Markup?)] = []
    for (name, value) in json {
      guard let object = value.objectValue else {
        rows.append((name, JSONText.value(name, value)))
        continue
      }
      inner.append("<h3>\(name)</h3>\n\(payload(object))\n")
    }
    return Table.properties(rows) + inner.joined()
  }

  private static func verbatim(_ content: NotificationBodyView) -> Markup {
    """
    <details><summary>\(content.wasSent ? Text.bodySent : Text.bodyNow)</summary>
    <pre tabindex="0">\(content.body)</pre></details>
    """
  }
}
