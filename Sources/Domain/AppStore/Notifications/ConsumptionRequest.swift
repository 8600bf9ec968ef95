package import JSON

/// What an operator tells Apple about a purchase whose customer asks for a refund (ConsumptionRequest).
package struct ConsumptionRequest: Hashable, Sendable {
  /// The most that can have been used: all of it.
  package static let wholeConsumption: Int64 = 100_000

  /// Whether what was bought was delivered and worked.
  package enum DeliveryStatus: String, Hashable, Sendable, CaseIterable {
    case delivered = "DELIVERED"
    case undeliveredQualityIssue = "UNDELIVERED_QUALITY_ISSUE"
    case undeliveredWrongItem = "UNDELIVERED_WRONG_ITEM"
    case undeliveredServerOutage = "UNDELIVERED_SERVER_OUTAGE"
    case undeliveredOther = "UNDELIVERED_OTHER"
  }

  /// What the operator would like Apple to decide.
  package enum RefundPreference: String, Hashable, Sendable, CaseIterable {
    case decline = "DECLINE"
    case grantFull = "GRANT_FULL"
    case grantProrated = "GRANT_PRORATED"
  }

  /// Whether the customer agreed to this being told. Apple refuses `false`.
  package var customerConsented: Bool
  package var deliveryStatus: DeliveryStatus
  /// Whether the customer could try it before buying.
  package var sampleContentProvided: Bool
  /// How much of it was used, in thousandths of a percent: 0 to 100,000.
  package var consumptionPercentage: Int64?
  package var refundPreference: RefundPreference?

  /// What is told, by its parts.
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

  /// The body of the call.
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

/// Why a customer asks for a refund (Apple's `consumptionRequestReason`).
package enum ConsumptionRequestReason: OpenCode {
  case unintendedPurchase
  case fulfillmentIssue
  case unsatisfiedWithPurchase
  case legal
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
