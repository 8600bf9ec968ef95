package import AppStore

/// The answer to one request, and its reason.
package struct RetentionDecision: Hashable, Sendable {
  /// The content that Apple shows.
  package let answer: RetentionAnswer
  /// The reason of the answer, also of ``RetentionAnswer/nothing``.
  package let reason: RetentionReason
  /// The rule that decided; empty without one.
  package let rule: String

  /// Creates a decision from its parts.
  package init(_ answer: RetentionAnswer, _ reason: RetentionReason, rule: String = "") {
    self.answer = answer
    self.reason = reason
    self.rule = rule
  }
}

/// The reason of an answer to a request. The raw values are stored, and are labels of metrics.
package enum RetentionReason: String, Hashable, Sendable, CaseIterable {
  /// A rule has the answer, which may be nothing for a control group.
  case rule = "RULE"
  /// No rule matched, and the policy has a default message.
  case defaultMessage = "DEFAULT"
  /// No rule matched.
  case noRule = "NO_RULE"
  /// The app has no policy.
  case notConfigured = "NOT_CONFIGURED"
  /// The customer is a family member or has a seat, and does not pay.
  case notPayer = "NOT_PAYER"
  /// The customer is committed to further payments.
  case committed = "COMMITTED"
  /// Apple has not decided about a refund of the customer's.
  case openRefund = "OPEN_REFUND"
  /// A payment failed; the customer needs another payment method and no offer.
  case paymentProblem = "PAYMENT_PROBLEM"
  /// The subscription is not active.
  case notActive = "NOT_ACTIVE"
  /// Nothing is stored about the purchase.
  case unknownPurchase = "UNKNOWN_PURCHASE"
  /// The facts did not arrive within the limit of time.
  case late = "LATE"
  /// The store could not be read.
  case storeUnavailable = "STORE_UNAVAILABLE"
  /// The offer of the rule could not be signed.
  case cannotSign = "CANNOT_SIGN"
}

extension RetentionPolicy {
  /// Decides about a request at `now`, from values alone.
  package func decide(
    about subscriber: RetentionSubscriber, in app: AppDefinition, at now: Instant
  ) -> RetentionDecision {
    if let reason = Self.exclusion(of: subscriber, at: now) { return RetentionDecision(.nothing, reason) }
    for rule in rules where rule.conditions.matches(subscriber, in: app, at: now) {
      guard let answer = choice(of: rule, for: subscriber, at: now) else { continue }
      return RetentionDecision(answer, .rule, rule: rule.name)
    }
    guard let defaultMessageID else { return RetentionDecision(.nothing, .noRule) }
    return RetentionDecision(.message(id: defaultMessageID), .defaultMessage)
  }

  /// Returns the reason for which a subscriber gets no answer under any rule; `nil` if the rules decide.
  static func exclusion(of subscriber: RetentionSubscriber, at now: Instant) -> RetentionReason? {
    if subscriber.state.ownership.isShared { return .notPayer }
    if subscriber.state.commitmentEndsAt.map({ now < $0 }) ?? false { return .committed }
    if subscriber.hasOpenRefund { return .openRefund }
    switch subscriber.state.state {
    case .activeAutoRenewOn, .activeAutoRenewOff: return nil
    case .gracePeriod, .billingRetry: return .paymentProblem
    default: return .notActive
    }
  }

  /// The choice of a rule for a subscriber, always the same for the same choices; `nil` if none is suitable.
  private func choice(
    of rule: Rule, for subscriber: RetentionSubscriber, at now: Instant
  ) -> RetentionAnswer? {
    let suitable = rule.choices.filter { isSuitable($0.answer, subscriber, at: now) }
    let total = suitable.reduce(0) { $0 + $1.weight }
    guard total > 0 else { return nil }
    var hash = Fingerprint()
    hash.add(rule.name)
    hash.add(subscriber.originalTransactionID)
    // The last bytes of a hash by FNV-1a are less uniform than its middle.
    var rest = Int64(truncatingIfNeeded: (hash.value >> 16) % UInt64(total))
    for choice in suitable {
      if rest < choice.weight { return choice.answer }
      rest -= choice.weight
    }
    return nil
  }

  /// Whether an answer makes sense for the subscriber: another product than the present one, and no second
  /// offer within the pause.
  private func isSuitable(
    _ answer: RetentionAnswer, _ subscriber: RetentionSubscriber, at now: Instant
  ) -> Bool {
    switch answer {
    case .nothing, .message: true
    case .alternateProduct(_, let productID, _): productID != subscriber.productID
    case .promotionalOffer:
      subscriber.lastOfferAt.map {
        now.milliseconds(since: $0) >= offerPauseDays * Instant.millisecondsPerDay
      } ?? true
    }
  }
}
