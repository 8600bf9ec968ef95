package import AppStore

/// The rules for answers to Apple's consumption requests (`CONSUMPTION_REQUEST`): when a customer requests a
/// refund, Apple asks how much of the purchase was used and waits up to 12 hours for the answer.
package struct ConsumptionPolicy: Hashable, Sendable {
  /// The contents of an automatic answer, as Send Consumption Information defines its fields.
  package struct Terms: Hashable, Sendable {
    /// Whether the purchase was delivered and worked.
    package var deliveryStatus: ConsumptionRequest.DeliveryStatus
    /// The operator's preferred outcome; `nil`: none.
    package var refundPreference: ConsumptionRequest.RefundPreference?
    /// Whether customers can try the product before they buy it.
    package var sampleContentProvided: Bool
    /// Whether to report the consumed share, where it can be computed from time.
    package var reportsConsumption: Bool

    /// Creates terms; the defaults report a delivered purchase and its consumed share.
    package init(
      deliveryStatus: ConsumptionRequest.DeliveryStatus = .delivered,
      refundPreference: ConsumptionRequest.RefundPreference? = nil, sampleContentProvided: Bool = false,
      reportsConsumption: Bool = true
    ) {
      self.deliveryStatus = deliveryStatus
      self.refundPreference = refundPreference
      self.sampleContentProvided = sampleContentProvided
      self.reportsConsumption = reportsConsumption
    }
  }

  /// Whether a person or the service answers.
  package enum Answer: Hashable, Sendable {
    /// The operator answers each request with `SendConsumptionInformation`.
    case manual
    /// The service answers by itself.
    case automatic(Terms)
  }

  /// The answer for every reason that ``byReason`` does not list.
  package let defaultAnswer: Answer
  /// The answers for individual values of Apple's `consumptionRequestReason`.
  package let byReason: [ConsumptionRequestReason: Answer]

  /// Every request waits for the operator.
  package static let manual = ConsumptionPolicy(defaultAnswer: .manual)

  package init(defaultAnswer: Answer, byReason: [ConsumptionRequestReason: Answer] = [:]) {
    self.defaultAnswer = defaultAnswer
    self.byReason = byReason
  }

  /// The answer for a request with `reason`; `nil` if Apple sent none.
  package func answer(to reason: ConsumptionRequestReason?) -> Answer {
    reason.flatMap { byReason[$0] } ?? defaultAnswer
  }
}

extension ConsumptionPolicy.Terms {
  /// The consumption information of a purchase whose customer consented to sharing it. It has no preference for a prorated
  /// refund of a purchase whose consumed share Apple requires and nothing states.
  ///
  /// - `fact`: the purchase; `nil` if it is unknown.
  /// - `product`: its catalog entry; `nil` if there is none.
  /// - `start`: when its time begins; `nil` for the purchase date.
  /// - `instant`: the time of the refund request.
  package func information(
    about fact: TransactionFact?, _ product: ProductDefinition?, from start: Instant? = nil,
    at instant: Instant
  ) -> ConsumptionRequest {
    var information = ConsumptionRequest(
      customerConsented: true, deliveryStatus: deliveryStatus,
      sampleContentProvided: sampleContentProvided, refundPreference: refundPreference)
    information.consumptionPercentage = share(of: fact, product, from: start, at: instant)
    if information.problem(with: fact?.type) != nil { information.consumptionPercentage = nil }
    if information.problem(with: fact?.type) != nil { information.refundPreference = nil }
    return information
  }

  /// The consumed share within Apple's bounds; `nil` if it is unknown, or not to be reported.
  private func share(
    of fact: TransactionFact?, _ product: ProductDefinition?, from start: Instant?, at instant: Instant
  ) -> Int64? {
    guard reportsConsumption, let consumed = fact?.consumedShare(product, from: start, at: instant) else {
      return nil
    }
    // Apple rejects other shares of a purchase that was not delivered, and of one whose refund is to be prorated.
    return switch (deliveryStatus, refundPreference) {
    case (.delivered, .grantProrated?): min(max(consumed, 1), ConsumptionRequest.wholeConsumption - 1)
    case (.delivered, _): consumed
    default: 0
    }
  }
}

extension TransactionFact {
  /// The share of the paid time that had passed at `instant`, from 0 to 100,000 thousandths of a percent; `nil` for a
  /// purchase without an end or with an empty period, and for subscriptions, whose share Apple computes itself.
  fileprivate func consumedShare(
    _ product: ProductDefinition?, from start: Instant?, at instant: Instant
  ) -> Int64? {
    let start = start ?? purchaseDate
    let bought = product?.duration.map { start.nonRenewingEnd(after: $0, quantity: quantity) }
    guard !isSubscription, let end = expiresDate ?? bought else { return nil }
    let (whole, passed) = (end.milliseconds(since: start), instant.milliseconds(since: start))
    guard whole > 0 else { return nil }
    let all = ConsumptionRequest.wholeConsumption
    return Int64(Double(min(max(passed, 0), whole)) / Double(whole) * Double(all))
  }
}

extension CustomerFacts {
  /// When the time of a non-renewing subscription among the facts begins: at the end of an earlier purchase of the product
  /// that was running, because their durations add up. `nil` for other products.
  package func start(
    ofNonRenewing fact: TransactionFact, in app: borrowing AppDefinition
  ) -> Instant? {
    guard fact.type == .nonRenewingSubscription else { return nil }
    return AccessIntervals(self, .ownership(of: fact.productID, in: app)).all.first { interval in
      interval.transaction.map { transactions[$0].isSame(as: fact) } ?? false
    }?.start
  }
}
