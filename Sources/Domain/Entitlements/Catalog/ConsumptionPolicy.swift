package import AppStore

/// What the operator has Apple told when a customer asks for a refund and Apple asks how much was used
/// (`CONSUMPTION_REQUEST`).
package struct ConsumptionPolicy: Hashable, Sendable {
  /// What is told without anybody looking at it.
  package struct Terms: Hashable, Sendable {
    /// Whether what was bought was delivered and worked.
    package var deliveryStatus: ConsumptionRequest.DeliveryStatus
    /// What the operator would like Apple to decide; `nil`: nothing in particular.
    package var refundPreference: ConsumptionRequest.RefundPreference?
    /// Whether customers can try it before they buy.
    package var sampleContentProvided: Bool
    /// Whether Apple is told how much was used, where time tells it.
    package var reportsConsumption: Bool

    /// Terms by their parts; if nothing else is said, that it was delivered, and how much was used.
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

  /// Who answers.
  package enum Answer: Hashable, Sendable {
    /// Somebody of the operator's, who looks at each case.
    case manual
    /// The service, by itself.
    case automatic(Terms)
  }

  /// How Apple is answered where no other answer is given for the customer's reason.
  package let defaultAnswer: Answer
  /// The answers for some of Apple's `consumptionRequestReason`s.
  package let byReason: [ConsumptionRequestReason: Answer]

  /// Nobody is answered without somebody looking at it.
  package static let manual = ConsumptionPolicy(defaultAnswer: .manual)

  /// A policy by its parts.
  package init(defaultAnswer: Answer, byReason: [ConsumptionRequestReason: Answer] = [:]) {
    self.defaultAnswer = defaultAnswer
    self.byReason = byReason
  }

  /// How Apple is answered when the customer has this reason; `nil`: Apple did not say which.
  package func answer(to reason: ConsumptionRequestReason?) -> Answer {
    reason.flatMap { byReason[$0] } ?? defaultAnswer
  }
}

extension ConsumptionPolicy.Terms {
  /// What Apple is told, of a customer who agreed to it.
  ///
  /// - `fact`: the purchase; `nil` if nothing is known of it.
  /// - `product`: what the catalog says of the product; `nil` if nothing.
  /// - `moment`: when the customer asked for the money.
  package func information(
    about fact: TransactionFact?, _ product: ProductDefinition?, at instant: Instant
  ) -> ConsumptionRequest {
    let consumed = reportsConsumption ? fact.flatMap { $0.consumedShare(product, at: instant) } : nil
    return ConsumptionRequest(
      customerConsented: true, deliveryStatus: deliveryStatus,
      sampleContentProvided: sampleContentProvided, consumptionPercentage: consumed,
      refundPreference: refundPreference)
  }
}

extension TransactionFact {
  /// How much of the time that was paid for had passed, in thousandths of a percent; `nil` where time does not
  /// tell how much of a purchase was used.
  fileprivate func consumedShare(_ product: ProductDefinition?, at instant: Instant) -> Int64? {
    guard let end = expiresDate ?? product?.duration.map(purchaseDate.advanced(by:)) else { return nil }
    let (whole, passed) = (end.milliseconds(since: purchaseDate), instant.milliseconds(since: purchaseDate))
    guard whole > 0 else { return nil }
    let all = ConsumptionRequest.wholeConsumption
    return Int64(Double(min(max(passed, 0), whole)) / Double(whole) * Double(all))
  }
}
