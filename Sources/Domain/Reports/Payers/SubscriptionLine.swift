internal import AppStore
internal import Entitlements

/// The periods of one subscription: those of a purchase, and then those of the purchases that replaced it.
///
/// A migration to Advanced Commerce, and a change between a subscription and a bundle, make another purchase of the same Apple
/// Account (`previousOriginalTransactionId`). The customer did not leave, so reports count neither an end nor a beginning.
struct SubscriptionLine {
  /// The `originalTransactionId` of the first purchase, which all postings about the subscription have.
  let line: String
  var periods: [SubscriptionPeriod] = []
  /// The later purchases, each with the start of its first period, in order.
  private(set) var replacements: [(line: String, since: Instant)] = []

  init(_ line: String) { self.line = line }

  /// All purchases, in order.
  var lines: [String] { [line] + replacements.map(\.line) }

  /// The parts of a time in which no customer owned the purchase that the subscription had then.
  ///
  /// - claims: by `originalTransactionId`; a purchase without any has no owner.
  func unclaimed(
    from start: Instant, to end: Instant, _ claims: [String: PurchaseClaims]
  ) -> [Range<Instant>] {
    let purchases = [(line: line, since: start)] + replacements
    return purchases.indices.flatMap { index in
      let next = index + 1 < purchases.count ? purchases[index + 1].since : end
      let ofPurchase = claims[purchases[index].line] ?? PurchaseClaims.none
      return ofPurchase.unclaimed(from: max(start, purchases[index].since), to: min(end, next))
    }
  }

  /// Whether `next` begins after all periods, and one of the purchases has the id that it replaced.
  fileprivate func isFollowed(by next: SubscriptionLine, replacing id: String) -> Bool {
    guard let last = periods.last, let first = next.periods.first else { return false }
    return lines.contains(id) && last.start < first.start
  }

  fileprivate mutating func append(_ next: SubscriptionLine) {
    guard let first = next.periods.first else { return }
    replacements.append((next.line, first.start))
    periods += next.periods
  }
}

extension [SubscriptionLine] {
  /// Joins each purchase that replaced another one with that one. If their periods overlap otherwise than by the last one of the
  /// replaced purchase, both are separate subscriptions.
  ///
  /// - predecessors: Apple's `previousOriginalTransactionId` by `originalTransactionId`.
  func joined(_ predecessors: [String: String]) -> [SubscriptionLine] {
    // Few purchases replaced another one.
    guard !predecessors.isEmpty else { return self }
    var subscriptions: [SubscriptionLine] = []
    for next in sorted(by: { $0.order < $1.order }) {
      let previous = predecessors[next.line].flatMap { id in
        subscriptions.firstIndex { $0.isFollowed(by: next, replacing: id) }
      }
      if let previous {
        subscriptions[previous].append(next)
      } else {
        subscriptions.append(next)
      }
    }
    return subscriptions.sorted { $0.line < $1.line }
  }
}

extension SubscriptionLine {
  fileprivate var order: (Instant, String) { (periods.first?.start ?? .openEnd, line) }
}
