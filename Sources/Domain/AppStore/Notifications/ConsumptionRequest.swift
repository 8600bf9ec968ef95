package import JSON

/// The consumption information of a purchase whose customer requested a refund (Apple's ConsumptionRequest,
/// Send Consumption Information, API 1.19).
package struct ConsumptionRequest: Hashable, Sendable {
  /// ``consumptionPercentage`` of a fully used purchase.
  package static let wholeConsumption: Int64 = 100_000

  /// Whether the purchase was delivered and worked. The raw values are Apple's.
  package enum DeliveryStatus: String, Hashable, Sendable, CaseIterable {
    /// The customer got the product, and it worked.
    case delivered = "DELIVERED"
    /// The product was not delivered because of its quality.
    case undeliveredQualityIssue = "UNDELIVERED_QUALITY_ISSUE"
    /// Another product was delivered.
    case undeliveredWrongItem = "UNDELIVERED_WRONG_ITEM"
    /// The product was not delivered because a server failed.
    case undeliveredServerOutage = "UNDELIVERED_SERVER_OUTAGE"
    /// The product was not delivered for another reason.
    case undeliveredOther = "UNDELIVERED_OTHER"
  }

  /// The operator's preferred outcome. The raw values are Apple's.
  package enum RefundPreference: String, Hashable, Sendable, CaseIterable {
    /// Apple should decline the refund.
    case decline = "DECLINE"
    /// Apple should refund the whole price.
    case grantFull = "GRANT_FULL"
    /// Apple should refund the part that was not used; it needs ``consumptionPercentage``.
    case grantProrated = "GRANT_PRORATED"
  }

  /// Whether the customer consented to sharing this data. Apple rejects `false` (4000035).
  package var customerConsented: Bool
  /// Whether the customer got a working product.
  package var deliveryStatus: DeliveryStatus
  /// Whether the customer could try the product before the purchase.
  package var sampleContentProvided: Bool
  /// The consumed share in thousandths of a percent, 0 to 100,000; `nil`: not reported.
  package var consumptionPercentage: Int64?
  /// The outcome that the operator prefers; Apple decides. `nil`: none.
  package var refundPreference: RefundPreference?

  package init(
    customerConsented: Bool, deliveryStatus: DeliveryStatus, sampleContentProvided: Bool,
    consumptionPercentage: Int64? = nil, refundPreference: RefundPreference? = nil
  ) {
    self.customerConsented = customerConsented
    self.deliveryStatus = deliveryStatus
    self.sampleContentProvided = sampleContentProvided
    self.consumptionPercentage = consumptionPercentage
    self.refundPreference = refundPreference
  }

  /// Checks the information as Apple does (Apple: consumptionPercentage).
  ///
  /// - Parameter type: the type of the product; `nil` if the caller does not have it.
  /// - Returns: why Apple rejects the information; `nil` if it accepts it.
  package func problem(with type: ProductType?) -> String? {
    if type == .autoRenewableSubscription {
      return consumptionPercentage.map { _ in
        "Apple computes the consumed share of subscriptions itself (4000209)"
      }
    }
    if deliveryStatus != .delivered, consumptionPercentage ?? 0 != 0 {
      return "the consumed share of a purchase that was not delivered must be 0"
    }
    // Without a share, a purchase of unknown type may be a subscription.
    guard refundPreference == .grantProrated, let share = consumptionPercentage ?? type?.shareWithoutOne,
      !(1..<Self.wholeConsumption).contains(share)
    else { return nil }
    return "for a prorated refund the consumed share must be above 0 and below \(Self.wholeConsumption)"
  }

  /// The body of the call, with Apple's member names.
  package var json: JSONObject {
    var json: JSONObject = [
      "customerConsented": .bool(customerConsented),
      "sampleContentProvided": .bool(sampleContentProvided),
      "deliveryStatus": .string(deliveryStatus.rawValue),
    ]
    if let consumptionPercentage {
      json["consumptionPercentage"] = .number(JSONNumber(consumptionPercentage))
    }
    if let refundPreference { json["refundPreference"] = .string(refundPreference.rawValue) }
    return json
  }
}

extension ProductType {
  /// The consumed share that an answer without one stands for; `nil` if Apple computes it, or may do so.
  fileprivate var shareWithoutOne: Int64? {
    switch self {
    case .consumable, .nonConsumable, .nonRenewingSubscription: 0
    case .autoRenewableSubscription, .unrecognized: nil
    }
  }
}

/// The reason of a customer's request for a refund (Apple's `consumptionRequestReason`).
package enum ConsumptionRequestReason: OpenCode {
  /// The customer did not mean to buy it.
  case unintendedPurchase
  /// The customer did not get it, or it did not work.
  case fulfillmentIssue
  /// The customer does not like it.
  case unsatisfiedWithPurchase
  /// A legal reason.
  case legal
  /// Any other reason.
  case other
  case unrecognized(String)

  package static let known: [ConsumptionRequestReason] = [
    .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other,
  ]

  package var rawValue: String {
    switch self {
    case .unintendedPurchase: "UNINTENDED_PURCHASE"
    case .fulfillmentIssue: "FULFILLMENT_ISSUE"
    case .unsatisfiedWithPurchase: "UNSATISFIED_WITH_PURCHASE"
    case .legal: "LEGAL"
    case .other: "OTHER"
    case .unrecognized(let rawValue): rawValue
    }
  }
}
