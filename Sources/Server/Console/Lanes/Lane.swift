internal import AppStore
internal import Entitlements
internal import Pages
internal import Wire

// Lanes of the contract's history.
extension Lane {
  /// The lanes of entitlements, purchases and grants. Purchases that give nothing for a time, such as consumables, share
  /// a lane with the others of their product. The lane of one of `grants` names its entitlement instead of its id.
  static func states(_ history: GetCustomerHistoryResponse, grants: [Grant] = []) -> [Lane] {
    let requests =
      history.lanes.first { $0.kind == .apple }?.marks.filter { $0.type.hasPrefix("CONSUMPTION_REQUEST") }
      ?? []
    let states = history.lanes.filter { !$0.hasEvents }
    let units = states.filter { $0.kind == .purchase && $0.segments.isEmpty && !$0.productId.isEmpty }
    let products = units.reduce(into: [String]()) {
      if !$0.contains($1.productId) { $0.append($1.productId) }
    }
    let lanes = states.filter { !units.contains($0) }.map { lane in
      Lane(lane, refundRequests: requests, grant: grants.first { $0.grantId == lane.name })
    }
    let consumables = products.map { product in
      Lane(product, units.filter { $0.productId == product }, refundRequests: requests)
    }
    return (lanes + consumables).filter { !$0.isEmpty }
  }

  /// The lanes of what Apple said and what we did.
  static func events(_ history: GetCustomerHistoryResponse) -> [Lane] {
    history.lanes.filter(\.hasEvents).map { Lane($0, refundRequests: []) }.filter { !$0.isEmpty }
  }

  /// The purchases of one consumable product.
  private init(_ product: String, _ purchases: [HistoryLane], refundRequests: [HistoryMark]) {
    self.init(
      name: product, kind: Text.boughtCount(purchases.count),
      marks: purchases.flatMap { Self.marks(of: $0, refundRequests) }.sorted { $0.at < $1.at },
      dots: purchases.flatMap(\.marks).filter { $0.type == "PURCHASED" }.compactMap { Mark($0) }
        .sorted { $0.at < $1.at })
  }

  private init(_ lane: HistoryLane, refundRequests: [HistoryMark], grant: Grant? = nil) {
    let product =
      lane.productId.given ?? lane.segments.last { !$0.productId.isEmpty }?.productId ?? lane.name
    let (name, kind) =
      switch lane.kind {
      case .access: (lane.name, Text.laneAccess)
      case .purchase: (product, Text.lanePurchase)
      case .shared: (product, Text.laneShared)
      case .grant: (Text.laneGrant, grant?.entitlement.given ?? lane.name)
      case .apple: (Text.laneApple, Text.notifications(lane.marks.count))
      case .operator: (Text.laneOperator, Text.commands(lane.marks.count))
      case .unspecified, .unrecognized: (lane.name, "")
      }
    let bars = lane.segments.compactMap { Bar($0, lane.kind) }
    let hasDots = lane.kind == .apple || lane.kind == .operator
    self.init(
      name: name, kind: kind, bars: lane.kind == .access ? Self.joined(bars) : bars,
      marks: hasDots ? [] : Self.marks(of: lane, refundRequests),
      dots: hasDots ? lane.marks.compactMap { Mark($0) } : [])
  }

  private static func marks(of lane: HistoryLane, _ refundRequests: [HistoryMark]) -> [Mark] {
    let transactions = Set(
      (lane.segments.map(\.transactionId) + lane.marks.map(\.transactionId)).filter { !$0.isEmpty })
    let asked = refundRequests.filter { transactions.contains($0.transactionId) && lane.kind == .purchase }
    return (lane.marks + asked).compactMap { Mark(signed: $0) }.sorted { $0.at < $1.at }
  }
}

extension Lane {
  /// The periods of a purchase without an owner, from its transactions: it is in the history of no customer. `duration` is
  /// that of a non-renewing subscription.
  init(unclaimed purchase: GetPurchaseResponse, duration: Period? = nil) {
    let sold = purchase.transactions.compactMap { entry in
      entry.transaction.map { ($0, entry.evidenceId ?? 0) }
    }
    self.init(
      name: sold.last?.0.productId ?? purchase.originalTransactionId, kind: Text.lanePurchase,
      bars: sold.compactMap { Bar($0, duration: duration, source: $1) },
      marks: sold.compactMap { transaction, source in
        transaction.revocationDate?.instant.map {
          let (sign, meaning) =
            transaction.isSharingEnded ? ("⇥", Text.markSharingEnded) : ("↩", Text.markRefunded)
          return Mark(at: $0, sign: sign, tone: .none, meaning: meaning, source: source)
        }
      },
      dots: sold.compactMap { transaction, source in
        guard transaction.isUnit(duration), let at = transaction.purchaseDate?.instant else { return nil }
        return Mark(at: at, sign: "", tone: .ended, meaning: transaction.productId, source: source)
      })
  }

  /// Unbroken access is one bar, however many periods it has.
  private static func joined(_ bars: [Bar]) -> [Bar] {
    bars.reduce(into: []) { joined, bar in
      guard let last = joined.last, last.end == bar.start, last.tone == bar.tone, last.word == bar.word else {
        return joined.append(bar)
      }
      joined[joined.count - 1] = Bar(
        start: last.start, end: bar.end, tone: bar.tone, word: bar.word, meaning: bar.meaning,
        source: bar.source, isBrief: bar.isBrief)
    }
  }
}

extension HistoryLane {
  /// Whether it has single instants of all purchases.
  fileprivate var hasEvents: Bool { kind == .apple || kind == .operator }
}

extension Transaction {
  /// Whether it gives nothing for a time: a consumable, or a non-renewing subscription without a duration.
  fileprivate func isUnit(_ duration: Period?) -> Bool {
    type == .consumable || type == .nonRenewingSubscription && duration == nil && expiresDate == nil
  }
}

extension Lane.Bar {
  /// The paid period of a transaction, until its refund; `nil` for one that has none.
  fileprivate init?(_ transaction: Transaction, duration: Period?, source: Int64) {
    guard !transaction.isUnit(duration), let start = transaction.purchaseDate?.instant else { return nil }
    let limit = transaction.type == .nonRenewingSubscription ? duration : nil
    let end = limit.map { start.nonRenewingEnd(after: $0, quantity: Int64(transaction.quantity)) }
    let isTrial = transaction.offerType == .introductory && transaction.price?.milliunits == 0
    let price = transaction.price.map(Format.money) ?? ""
    self.init(
      start: start,
      end: [transaction.expiresDate?.instant, transaction.revocationDate?.instant, end].compactMap(\.self)
        .min(),
      tone: isTrial ? .trial : .full, word: isTrial ? Text.name(of: .trial) : price,
      meaning: [transaction.productId, price].compactMap(\.given).joined(separator: ", "), source: source,
      isBrief: false)
  }

  /// `nil` for a gap.
  fileprivate init?(_ segment: HistorySegment, _ kind: HistoryLaneKind) {
    guard let since = segment.since?.instant else { return nil }
    let hasAccess = segment.accessLevel == .full || segment.accessLevel == .limited
    var tone = Tone(reason: segment.reason, entitled: hasAccess)
    if !hasAccess, tone != .retry, tone != .none { return nil }
    if kind == .shared, tone == .full { tone = .shared }
    if kind == .grant, tone == .full { tone = .grant }
    let price = segment.price.map(Format.money) ?? ""
    self.init(
      start: since, end: segment.until?.instant, tone: tone,
      word: Self.word(segment, kind, tone, price),
      meaning: [
        segment.productId, Format.words(segment.reason), price,
        segment.offerType == .unspecified ? "" : Text.offerOf(Format.value(segment.offerType, "OFFER_TYPE_")),
      ].compactMap(\.given).joined(separator: ", "),
      source: segment.evidenceId ?? 0, isBrief: tone == .none)
  }

  private static func word(
    _ segment: HistorySegment, _ kind: HistoryLaneKind, _ tone: Tone, _ price: String
  ) -> String {
    if kind == .access {
      return segment.accessLevel == .limited && tone == .full ? Text.limited : Text.name(of: tone)
    }
    if tone == .grace || tone == .retry { return Text.name(of: tone) }
    if segment.offerType == .introductory, segment.price?.milliunits == 0 { return Text.name(of: .trial) }
    return price
  }
}

extension Lane.Mark {
  fileprivate init?(_ mark: HistoryMark) {
    guard let at = mark.time?.instant else { return nil }
    self.init(
      at: at, sign: "", tone: .ended, meaning: mark.explanation.given ?? Format.words(mark.type),
      source: mark.evidenceId ?? 0)
  }

  /// A mark with a sign; `nil` for those that the bars show already.
  fileprivate init?(signed mark: HistoryMark) {
    guard let at = mark.time?.instant,
      let (sign, tone, meaning) = Self.signs[mark.type.split(separator: "/").first.map(String.init) ?? ""]
    else { return nil }
    self.init(at: at, sign: sign, tone: tone, meaning: meaning, source: mark.evidenceId ?? 0)
  }

  private static let signs: [String: (String, Tone, String)] = [
    "REFUNDED": ("↩", .none, Text.markRefunded), "SHARING_ENDED": ("⇥", .none, Text.markSharingEnded),
    "GRANT_REVOKED": ("✕", .none, Text.markGrantRevoked), "UPGRADED": ("↥", .full, Text.markUpgraded),
    "CONSUMPTION_REQUEST": ("?", .grace, Text.markRefundAsked),
  ]
}
