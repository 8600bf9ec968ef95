internal import AppStore
internal import Wire

/// One row of the lanes picture, independent of coordinates.
struct Lane: Hashable, Sendable {
  /// A bar.
  struct Bar: Hashable, Sendable {
    let start: Instant
    /// `nil`: no end.
    let end: Instant?
    let tone: Tone
    /// The word in the bar, if it has room.
    let word: String
    /// What the bar means, for the tooltip and the table.
    let meaning: String
    let evidence: Int64
    /// Whether only its beginning is drawn, because the state has no natural end.
    let isBrief: Bool
  }

  /// A sign at an instant.
  struct Mark: Hashable, Sendable {
    let at: Instant
    let sign: String
    let tone: Tone
    let meaning: String
    let evidence: Int64
  }

  let name: String
  let kind: String
  var bars: [Bar] = []
  var marks: [Mark] = []
  /// Instants without a sign of their own.
  var dots: [Mark] = []

  /// The lanes of a history, those without content left out.
  static func all(_ history: GetCustomerHistoryResponse) -> [Lane] {
    let questions = history.lanes.first { $0.kind == .apple }?.marks.filter {
      $0.type.hasPrefix("CONSUMPTION_REQUEST")
    }
    return history.lanes.map { Lane($0, refundQuestions: questions ?? []) }.filter { !$0.isEmpty }
  }

  private var isEmpty: Bool { bars.isEmpty && marks.isEmpty && dots.isEmpty }

  private init(_ lane: HistoryLane, refundQuestions: [HistoryMark]) {
    let product = lane.segments.last { !$0.productId.isEmpty }?.productId ?? lane.name
    switch lane.kind {
    case .access: (name, kind) = (lane.name, Text.laneAccess)
    case .purchase:
      (name, kind) = (product, Text.lanePurchase)
    case .shared:
      (name, kind) = (product, Text.laneShared)
    case .grant: (name, kind) = (Text.laneGrant, lane.name)
    case .apple: (name, kind) = (Text.laneApple, Text.notifications(lane.marks.count))
    case .operator: (name, kind) = (Text.laneOperator, Text.commands(lane.marks.count))
    case .unspecified, .unrecognized: (name, kind) = (lane.name, "")
    }
    bars = lane.segments.compactMap { Bar($0, lane.kind) }
    if lane.kind == .access { bars = Self.joined(bars) }
    if lane.kind == .apple || lane.kind == .operator {
      dots = lane.marks.compactMap { Mark($0) }
    } else {
      let transactions = Set(
        (lane.segments.map(\.transactionId) + lane.marks.map(\.transactionId)).filter { !$0.isEmpty })
      let asked = refundQuestions.filter { transactions.contains($0.transactionId) && lane.kind == .purchase }
      marks = (lane.marks + asked).compactMap { Mark(signed: $0) }.sorted { $0.at < $1.at }
    }
  }
}

extension Lane {
  /// Unbroken access is one bar, however many periods it has.
  private static func joined(_ bars: [Bar]) -> [Bar] {
    bars.reduce(into: []) { joined, bar in
      guard let last = joined.last, last.end == bar.start, last.tone == bar.tone, last.word == bar.word else {
        return joined.append(bar)
      }
      joined[joined.count - 1] = Bar(
        start: last.start, end: bar.end, tone: bar.tone, word: bar.word, meaning: bar.meaning,
        evidence: bar.evidence, isBrief: bar.isBrief)
    }
  }
}

extension Lane.Bar {
  /// `nil` for a gap.
  fileprivate init?(_ segment: HistorySegment, _ kind: HistoryLaneKind) {
    guard let since = segment.since?.instant else { return nil }
    let hasAccess = segment.accessLevel == .full || segment.accessLevel == .limited
    var tone = Tone(reason: segment.reason, entitled: hasAccess)
    if !hasAccess, tone != .retry, tone != .none { return nil }
    if kind == .shared, tone == .full { tone = .shared }
    if kind == .grant, tone == .full { tone = .grant }
    start = since
    end = segment.until?.instant
    self.tone = tone
    isBrief = tone == .none
    evidence = segment.evidenceId ?? 0
    let price = segment.price.map(Format.money) ?? ""
    word = Self.word(segment, kind, tone, price)
    meaning = [
      segment.productId, Format.words(segment.reason), price,
      segment.offerType == .unspecified ? "" : Format.value(segment.offerType, "OFFER_TYPE_") + " offer",
    ].compactMap(\.given).joined(separator: ", ")
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
    self.at = at
    sign = ""
    tone = .ended
    meaning = mark.explanation.given ?? mark.type
    evidence = mark.evidenceId ?? 0
  }

  /// A mark with a sign; `nil` for those that the bars show already.
  fileprivate init?(signed mark: HistoryMark) {
    guard let at = mark.time?.instant,
      let (sign, tone, meaning) = Self.signs[mark.type.split(separator: "/").first.map(String.init) ?? ""]
    else { return nil }
    self.at = at
    self.sign = sign
    self.tone = tone
    self.meaning = meaning
    evidence = mark.evidenceId ?? 0
  }

  private static let signs: [String: (String, Tone, String)] = [
    "REFUNDED": ("↩", .none, Text.markRefunded), "SHARING_ENDED": ("⇥", .none, Text.markSharingEnded),
    "GRANT_REVOKED": ("✕", .none, Text.markGrantRevoked), "UPGRADED": ("↥", .full, Text.markUpgraded),
    "CONSUMPTION_REQUEST": ("?", .grace, Text.markRefundAsked),
  ]
}
