internal import AppStore
internal import RPC
internal import Store
internal import Wire

// Consumption requests as messages of the contract.

extension AppStore.ConsumptionRequest {
  /// The consumption information that the operator sends to Apple.
  ///
  /// - Throws: `NO_CONSENT` without the customer's consent, which the caller states; `INVALID_FIELD` for a percentage
  ///   out of its range and for an unknown value; `MISSING_FIELD` without a delivery status.
  init(_ request: SendConsumptionInformationRequest) throws(Status) {
    guard request.customerConsented else {
      throw Status(
        .failedPrecondition, reason: "NO_CONSENT",
        "Apple takes consumption information only with the customer's consent", field: "customer_consented")
    }
    let consumed = request.consumptionPercentage.map(Int64.init)
    guard consumed.map((0...Self.wholeConsumption).contains) ?? true else {
      throw .invalidField(
        "consumption_percentage", "consumption_percentage is not between 0 and \(Self.wholeConsumption)")
    }
    guard let delivery = try DeliveryStatus(request.deliveryStatus) else {
      throw .missingField("delivery_status", "delivery_status is not given")
    }
    self.init(
      customerConsented: true, deliveryStatus: delivery,
      sampleContentProvided: request.sampleContentProvided,
      consumptionPercentage: consumed,
      refundPreference: try RefundPreference(request.refundPreference))
  }
}

extension AppStore.ConsumptionRequest.DeliveryStatus {
  fileprivate init?(_ status: Wire.DeliveryStatus) throws(Status) {
    switch status {
    case .delivered: self = .delivered
    case .undeliveredQualityIssue: self = .undeliveredQualityIssue
    case .undeliveredWrongItem: self = .undeliveredWrongItem
    case .undeliveredServerOutage: self = .undeliveredServerOutage
    case .undeliveredOther: self = .undeliveredOther
    case .unspecified: return nil
    case .unrecognized: throw .unknownValue(of: "delivery_status")
    }
  }
}

extension AppStore.ConsumptionRequest.RefundPreference {
  fileprivate init?(_ preference: Wire.RefundPreference) throws(Status) {
    switch preference {
    case .decline: self = .decline
    case .grantFull: self = .grantFull
    case .grantProrated: self = .grantProrated
    case .unspecified: return nil
    case .unrecognized: throw .unknownValue(of: "refund_preference")
    }
  }
}

extension Wire.ConsumptionRequest {
  /// `customerID` is the owner of the purchase; `nil` if it is unclaimed.
  init(_ request: ConsumptionRequestRecord, customerID: String?) {
    self.init()
    evidenceId = request.id.rawValue
    environment = Wire.Environment(request.line.environment)
    customerId = customerID ?? ""
    productId = request.productID
    transactionId = request.transactionID
    originalTransactionId = request.line.lineID
    reason = request.reason
    requestedAt = GoogleProtobuf.Timestamp(request.requestedAt)
    answerBy = GoogleProtobuf.Timestamp(request.answerBy)
    state = ConsumptionRequestState(request.state)
    stateReason = request.error
    attempts = Int32(clamping: request.attempts)
    settledAt = request.settledAt.map(GoogleProtobuf.Timestamp.init)
  }
}

extension Wire.ConsumptionConsent {
  /// The latest consent of a customer, given or withdrawn, with the evidence of the command.
  init(_ consent: Store.ConsumptionConsent) {
    self.init()
    consented = consent.isGiven
    since = GoogleProtobuf.Timestamp(consent.since)
    evidenceId = consent.evidenceID.rawValue
  }
}

extension ConsumptionRequestState {
  /// The store's `refused` is `REJECTED` in the contract.
  fileprivate init(_ state: ConsumptionRequestRecord.State) {
    switch state {
    case .open: self = .open
    case .answered: self = .answered
    case .missed: self = .missed
    case .refused: self = .rejected
    case .decided: self = .decided
    }
  }
}

extension ConsumptionRequestRecord.State {
  /// `nil` if the request does not filter by state.
  init?(_ state: ConsumptionRequestState) throws(Status) {
    switch state {
    case .open: self = .open
    case .answered: self = .answered
    case .missed: self = .missed
    case .rejected: self = .refused
    case .decided: self = .decided
    case .unspecified: return nil
    case .unrecognized: throw .unknownValue(of: "state")
    }
  }
}
