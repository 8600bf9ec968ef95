internal import AppStore
internal import Markup
internal import Pages
internal import Sandbox

/// The picture of what an account had, from what is true in the App Store.
enum AccountLanes {
  private static let maxLanes = 20

  /// The picture with its heading, and the same as a table; empty without a purchase.
  static func section(_ account: AccountView, _ history: AccountHistoryView, _ visit: Visit) -> Markup {
    let lanes = lanes(account, history)
    guard let start = history.transactions.map(\.date).min() else { return "" }
    let picture = LanesPicture(
      lanes: lanes, geometry: LanesGeometry(start: start, now: visit.clock.now), asOf: nil,
      title: Text.pictureTitle(account.name))
    return """
      <h2 id="history">\(Text.pictureTitle(account.name))</h2>
      \(picture.legend)
      <div class="lanes" tabindex="0" role="region" aria-label="\(Text.pictureTitle(account.name))">
      \(picture.svg)
      </div>
      <details><summary>\(Text.asTable)</summary>
      \(picture.table(Text.transaction) { source in source == 0 ? "" : "\(Format.id(String(source)))" })
      </details>
      """
  }

  /// One lane for each purchase, one for each product that gives nothing for a time, and one for the notifications.
  static func lanes(_ account: AccountView, _ history: AccountHistoryView) -> [Lane] {
    let units = history.transactions.filter(\.isUnit)
    let unitPurchases = Set(units.map(\.originalTransactionId))
    let products = units.reduce(into: [String]()) {
      if !$0.contains($1.productId) { $0.append($1.productId) }
    }
    let others = account.purchases.filter { !unitPurchases.contains($0.originalTransactionId) }
    let unitLanes = products.map { product in
      lane(of: product, units.filter { $0.productId == product }, history)
    }
    let purchases = (others.map { lane($0, history) } + unitLanes).suffix(maxLanes)
    let dots = history.notifications.map { view in
      Lane.Mark(at: view.date, sign: "", tone: .ended, meaning: view.name, source: 0)
    }
    let apple = Lane(name: Text.laneApple, kind: Text.notifications(dots.count), dots: dots)
    return purchases + (dots.isEmpty ? [] : [apple])
  }

  /// The lane of one purchase: its periods, failed payments, refunds and upgrades.
  private static func lane(_ purchase: PurchaseView, _ history: AccountHistoryView) -> Lane {
    let sold = history.transactions.filter { $0.originalTransactionId == purchase.originalTransactionId }
    let failed = history.failedPayments.filter { $0.originalTransactionId == purchase.originalTransactionId }
    let given = sold.filter { $0.span?.isEmpty != true }
    let bars = given.map { bar($0, upgraded: upgrade(of: $0, in: sold)) } + failed.map { bar($0, purchase) }
    let upgrades = sold.compactMap { one in
      upgrade(of: one, in: sold).map {
        Lane.Mark(
          at: $0, sign: "↥", tone: .full, meaning: Text.markUpgraded, source: Int64(one.transactionId) ?? 0)
      }
    }
    let marks = requests(about: [purchase.originalTransactionId], history) + upgrades + sold.compactMap(mark)
    return Lane(
      name: purchase.productId,
      kind: purchase.ownership == .purchased ? Text.lanePurchase : Text.laneShared,
      bars: bars.sorted { $0.start < $1.start }, marks: marks.sorted { $0.at < $1.at })
  }

  /// The purchases of one product that gives nothing for a time: marks without bars.
  private static func lane(
    of product: String, _ units: [TransactionView], _ history: AccountHistoryView
  ) -> Lane {
    let marks =
      requests(about: Set(units.map(\.originalTransactionId)), history) + units.compactMap(mark)
    let dots = units.map { sold in
      Lane.Mark(
        at: sold.date, sign: "", tone: .ended, meaning: "\(product), \(Format.money(sold.price))",
        source: Int64(sold.transactionId) ?? 0)
    }
    return Lane(
      name: product, kind: Text.boughtCount(units.count), marks: marks.sorted { $0.at < $1.at },
      dots: dots.sorted { $0.at < $1.at })
  }

  /// The marks of refund requests. They come before the refunds of the same moment.
  private static func requests(
    about purchases: Set<String>, _ history: AccountHistoryView
  ) -> [Lane.Mark] {
    let asked = history.notifications.filter { view in
      view.name.hasPrefix("CONSUMPTION_REQUEST")
        && view.originalTransactionId.map(purchases.contains) ?? false
    }
    return asked.map {
      Lane.Mark(
        at: $0.date, sign: "?", tone: .grace, meaning: Text.markRefundAsked,
        source: $0.transactionId.flatMap { Int64($0) } ?? 0)
    }
  }

  /// The instant at which another transaction replaced `sold`; `nil` without an upgrade.
  private static func upgrade(of sold: TransactionView, in all: [TransactionView]) -> Instant? {
    sold.isUpgraded ? all.map(\.date).filter { $0 > sold.date }.min() : nil
  }

  /// The time that a transaction gives.
  private static func bar(_ sold: TransactionView, upgraded: Instant?) -> Lane.Bar {
    let tone: Tone = sold.isTrial ? .trial : sold.ownership == .purchased ? .full : .shared
    let price = Format.money(sold.price)
    // A period that was cut short ends at its refund, or at its upgrade.
    let end = sold.span?.upperBound ?? [sold.expires, sold.revoked, upgraded].compactMap(\.self).min()
    return Lane.Bar(
      start: sold.span?.lowerBound ?? sold.date, end: end, tone: tone,
      word: sold.isTrial ? Text.name(of: .trial) : price,
      meaning: "\(sold.productId), \(Format.words(sold.reason.rawValue)), \(price)",
      source: Int64(sold.transactionId) ?? 0, isBrief: false)
  }

  /// The time in which a payment had failed.
  private static func bar(_ failed: FailedPaymentView, _ purchase: PurchaseView) -> Lane.Bar {
    let tone: Tone = failed.hasAccess ? .grace : .retry
    return Lane.Bar(
      start: failed.since, end: failed.until, tone: tone, word: Text.name(of: tone),
      meaning: "\(purchase.productId), \(Text.meaning(of: tone))",
      source: Int64(purchase.originalTransactionId) ?? 0, isBrief: false)
  }

  /// The mark of a refund or of the end of sharing; `nil` without one.
  private static func mark(_ sold: TransactionView) -> Lane.Mark? {
    guard let revoked = sold.revoked else { return nil }
    let isRefund = sold.revocationType != .familyRevoke
    return Lane.Mark(
      at: revoked, sign: isRefund ? "↩" : "⇥", tone: .none,
      meaning: isRefund ? Text.markRefunded : Text.markSharingEnded, source: Int64(sold.transactionId) ?? 0)
  }
}

extension TransactionView {
  /// Whether it gives nothing for a time: a consumable, or a non-renewing subscription without a duration.
  fileprivate var isUnit: Bool { type == .consumable || type == .nonRenewingSubscription && span == nil }
}
