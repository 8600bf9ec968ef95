package import AppStore

/// A subscriber's action after a request for a retention message. Apple reports no outcome, so it follows
/// from the facts about the subscription. The raw values are stored.
package enum RetentionOutcome: String, Hashable, Sendable, CaseIterable {
  /// It was not evaluated yet.
  case pending = "PENDING"
  /// The subscription renews as before.
  case saved = "SAVED"
  /// The subscriber took an offer.
  case offerTaken = "OFFER_TAKEN"
  /// The subscription renews with another product, or has it already.
  case switched = "SWITCHED"
  /// Auto-renew is off, or the subscription ended.
  case left = "LEFT"
  /// Nothing is stored about the subscription.
  case unknown = "UNKNOWN"

  /// Whether nothing that happens later changes it.
  package var isFinal: Bool {
    switch self {
    case .offerTaken, .switched: true
    case .pending, .saved, .left, .unknown: false
    }
  }
}

/// The parts of a request and its answer that its outcome depends on.
package struct RetentionFollowUp: Hashable, Sendable {
  /// When Apple asked for the retention message.
  package var askedAt: Instant
  /// The product of the subscription then.
  package var productID: String
  /// The product with which it was to renew then; empty if not known.
  package var renewalProductID: String
  /// The promotional offer of the answer; empty without one.
  package var offerID: String

  /// Creates a follow-up from its parts.
  package init(askedAt: Instant, productID: String, renewalProductID: String, offerID: String) {
    self.askedAt = askedAt
    self.productID = productID
    self.renewalProductID = renewalProductID
    self.offerID = offerID
  }

  private static let minute: Int64 = 60_000
  private static let day: Int64 = 1_440 * minute
  /// In milliseconds after the request. Most subscribers decide within minutes.
  private static let early = [10 * minute, 60 * minute, 360 * minute]

  /// The time of the next evaluation after `now`; `nil` after the last one, which is `days` after the request.
  package func nextEvaluation(after now: Instant, until days: Int64) -> Instant? {
    let end = days * Self.day
    let all = Self.early.filter { $0 < end } + (1...max(1, days)).map { $0 * Self.day }
    return all.map(askedAt.advanced(byMilliseconds:)).first { $0 > now }
  }

  /// The outcome as the facts of the subscription have it at `now`.
  package func outcome(_ facts: CustomerFacts, at now: Instant) -> RetentionOutcome {
    guard let latest = facts.latestPeriod?.transaction else { return .unknown }
    // Only what Apple signed later can tell what the subscriber did.
    let renewal = facts.renewals.first { $0.signedDate > askedAt }
    if tookOffer(facts, renewal) { return .offerTaken }
    if switched(latest, renewal) { return .switched }
    if latest.revocationDate.map({ $0 >= askedAt }) ?? false { return .left }
    guard let renewal = renewal ?? facts.renewals.first else {
      return latest.expiresDate.map { $0 <= now } ?? false ? .left : .saved
    }
    // While Apple retries a payment, it may report a billing error as the reason of the end.
    let isOver =
      renewal.expirationIntent != nil && !renewal.isInBillingRetry
      && (latest.expiresDate.map { $0 <= now } ?? false)
    return renewal.renewalStatus == .off || isOver ? .left : .saved
  }

  /// Whether the next period, or one that began after the request, has the offer of the answer or one of Apple's.
  private func tookOffer(_ facts: CustomerFacts, _ renewal: RenewalFact?) -> Bool {
    let running = facts.latest(
      of: facts.transactions.indices.filter {
        facts.transactions[$0].purchaseDate <= askedAt && facts.transactions[$0].isSubscription
      }
    ).map { facts.transactions[$0] }
    func isTaken(_ type: OfferType?, _ id: String?) -> Bool {
      guard type != running?.offerType || id != running?.details.offerIdentifier else { return false }
      return switch type {
      case .promotional: !offerID.isEmpty && id == offerID
      case .retention: true
      case nil, .introductory, .offerCode, .winBack, .unrecognized: false
      }
    }
    return isTaken(renewal?.details.offerType, renewal?.details.offerIdentifier)
      || facts.transactions.contains {
        $0.purchaseDate > askedAt && isTaken($0.offerType, $0.details.offerIdentifier)
      }
  }

  /// Whether the subscriber chose another product after the request.
  private func switched(_ latest: TransactionFact, _ renewal: RenewalFact?) -> Bool {
    func isNew(_ product: String) -> Bool { product != productID && product != renewalProductID }
    if latest.purchaseDate > askedAt, isNew(latest.productID) { return true }
    guard let next = renewal?.autoRenewProductID, renewal?.renewalStatus != .off else { return false }
    return isNew(next)
  }
}
