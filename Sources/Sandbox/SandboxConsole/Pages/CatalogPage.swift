internal import AppStore
internal import Markup
internal import Pages
internal import Sandbox

/// The products with their prices and offers, as in App Store Connect.
enum CatalogPage {
  static func page(_ visit: Visit) async -> Page {
    let products = await visit.simulator.productViews(of: visit.app.id)
    let rows = products.map { row($0, visit) }
    let body: Markup = """
      <h1>\(Text.catalog)</h1>
      <p>\(Text.catalogHint)</p>
      \(rows.isEmpty ? Part.empty(Text.noProducts) : Table.markup(Text.catalog, heads: [Text.productHead, Text.price, Text.offers, Text.state, Text.actions], rows: rows))
      \(Part.commands(products.flatMap { commands($0, visit) }))
      """
    return Page(title: Text.catalog, section: .catalog, body: body)
  }

  /// The row of a product.
  private static func row(_ view: ProductView, _ visit: Visit) -> [Markup] {
    let product = view.product
    let group: Markup =
      product.type == .autoRenewableSubscription
      ? "<br><span class=\"quiet\">\(Text.group(product.subscriptionGroupIdentifier ?? "–", product.level))</span>"
      : ""
    let offers = view.offers.map { "<li>\(Text.offer($0))</li>" as Markup }
    var states: [Markup] = []
    if view.isWithdrawn { states.append(Part.chip(Text.withdrawn, .none)) }
    if view.isShareable { states.append(Part.chip(Text.shareable, .shared)) }
    if view.isInvitedByDeveloper { states.append(Part.chip(Text.invitedByDeveloper, .ended)) }
    return [
      "\(Format.name(product.productId))<br><span class=\"quiet\">\(product.type.rawValue)</span>\(group)",
      "\(view.priceText)\(view.monthlyPrice.map { "<br>\(Text.monthly(Format.money($0)))" as Markup } ?? "")",
      offers.isEmpty ? "" : "<ul>\(offers)</ul>", states.joined(separator: " "),
      "<div class=\"row\">\(buttons(view, visit))</div>",
    ]
  }

  /// What a developer can do with a product.
  private static func buttons(_ view: ProductView, _ visit: Visit) -> Markup {
    let id = view.product.productId
    let back = ["catalog"]
    let price = view.price.map { String($0.milliunits) }
    let links: [Markup] =
      [
        Part.link(
          .action(.price), [("productId", id), ("price", price)], visit, back: back, label: Text.changePrice)
      ]
      + (view.product.type == .autoRenewableSubscription
        ? [
          Part.link(.action(.offers), [("productId", id)], visit, back: back, label: Text.addOffer),
          Part.link(.action(.volumePricing), [("productId", id)], visit, back: back),
          Part.link(.action(.invitations), [("productId", id)], visit, back: back),
          Part.link(.action(.massExtend), [("productId", id)], visit, back: back),
        ] : [])
    let share = Part.button(
      view.isShareable ? Text.unshare : Text.makeShareable, .action(.shareable),
      [("productId", id), ("enabled", view.isShareable ? "false" : "true")], visit, back: back)
    let withdraw = Part.button(
      view.isWithdrawn ? Text.sellAgain : Text.withdraw, .action(.withdraw),
      [("productId", id), ("withdrawn", view.isWithdrawn ? "false" : "true")], visit, back: back)
    return
      "\(links.prefix(1).map { $0 })\(share)\(withdraw)<details class=\"more\"><summary>\(Text.more)</summary><div class=\"menu\">\(links.dropFirst().map { $0 })</div></details>"
  }

  private static func commands(_ view: ProductView, _ visit: Visit) -> [CommandText] {
    let id = view.product.productId
    return [
      Part.command(
        .action(.shareable), [("productId", id), ("enabled", view.isShareable ? "false" : "true")], visit),
      Part.command(
        .action(.withdraw), [("productId", id), ("withdrawn", view.isWithdrawn ? "false" : "true")], visit),
    ]
  }
}

/// The settings of the developer and of the sandbox.
enum SettingsPage {
  /// `GET …/settings`: the present values, each with the operations that change it.
  static func page(_ visit: Visit) async -> Page {
    let settings = await visit.simulator.settingsView(of: visit.app.id)
    let rows: [(String, String, [Operation])] = [
      (Text.notificationsTitle, settings.notificationURL ?? Text.sentNowhere, [.action(.notificationURL)]),
      (
        Text.delivery, "\(Text.rules(settings.rules)), \(settings.hasDelays ? Text.delayed : Text.undelayed)",
        [.action(.delivery)]
      ),
      (
        Text.gracePeriod,
        settings.graceDays == 0 ? Text.off : Text.graceDays(settings.graceDays, settings.graceScope),
        [.action(.gracePeriod)]
      ),
      (Text.rateHead, Format.rate(settings.rate), [.action(.periods)]),
      (
        Text.renewalTiming,
        Text.timing(
          Format.length(settings.chargeLead), Format.length(settings.failureDelay), settings.staleFailures),
        [.action(.renewalTiming)]
      ),
      (Text.sharedSecret, settings.hasSharedSecret ? Text.isSet : Text.isNotSet, [.action(.sharedSecret)]),
      (
        Text.realtimeURL, settings.realtimeURL ?? Text.isNotSet,
        [.action(.realtimeURL), .call(.realtimeMessage)]
      ),
      (Text.openBehaviour, Text.openBehaviourHint, [.action(.sharingRules), .action(.commitmentRules)]),
      (Text.keysAndTokens, Text.keysHint, [.action(.keys), .action(.revokeKey), .action(.serverTokens)]),
    ]
    let cells = rows.map { name, value, operations in
      [
        "\(name)", "\(Format.name(value))",
        "<div class=\"row\">\(operations.map { Part.link($0, values($0, settings), visit, back: ["settings"], label: operations.count == 1 ? Text.change : nil) })</div>",
      ] as [Markup]
    }
    let body: Markup = """
      <h1>\(Text.settings)</h1>
      \(Table.markup(Text.settings, heads: [Text.setting, Text.value, Text.actions], rows: cells))
      <p>\(Text.moreSettings) <a href="\(visit.link(["do"]))">\(Text.allOperations)</a></p>
      """
    return Page(title: Text.settings, section: .settings, body: body)
  }

  /// The present values, for the form.
  private static func values(_ operation: Operation, _ settings: SettingsView) -> [(
    name: String, value: String?
  )] {
    switch operation {
    case .action(.notificationURL):
      [("url", settings.notificationURL), ("version", String(settings.notificationVersion))]
    case .action(.delivery): [("rules", settings.rules), ("delays", settings.hasDelays ? "true" : "false")]
    case .action(.gracePeriod): [("days", String(settings.graceDays)), ("renewalType", settings.graceScope)]
    case .action(.realtimeURL): [("url", settings.realtimeURL)]
    default: []
    }
  }
}
