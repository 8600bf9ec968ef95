internal import AppStore
internal import Entitlements
internal import RPC
internal import Store
internal import Wire

extension Wire.RetentionRequest {
  init(_ request: RetentionRequestRecord) {
    self.init()
    requestIdentifier = request.requestID
    environment = Wire.Environment(request.line.environment)
    originalTransactionId = request.line.lineID
    productId = request.productID
    locale = request.locale
    askedAt = GoogleProtobuf.Timestamp(request.askedAt)
    receivedAt = GoogleProtobuf.Timestamp(request.receivedAt)
    answer = Wire.RetentionAnswer(request.answer)
    reason = request.reason.rawValue
    rule = request.rule
    messageIdentifier = request.messageID
    offeredProductId = request.offeredProductID
    offerIdentifier = request.offerID
    answerMicroseconds = request.microseconds
    outcome = Wire.RetentionOutcome(request.outcome)
    evaluatedAt = request.evaluatedAt.map(GoogleProtobuf.Timestamp.init)
    outcomeIsFinal = request.dueAt == nil
  }
}

extension Wire.RetentionAnswer {
  init(_ kind: RetentionRequestRecord.AnswerKind) {
    self =
      switch kind {
      case .nothing: .nothing
      case .message: .message
      case .alternateProduct: .alternateProduct
      case .promotionalOffer: .promotionalOffer
      }
  }
}

extension Wire.RetentionOutcome {
  init(_ outcome: Entitlements.RetentionOutcome) {
    self =
      switch outcome {
      case .pending: .pending
      case .saved: .saved
      case .offerTaken: .offerTaken
      case .switched: .switched
      case .left: .left
      case .unknown: .unknown
      }
  }
}

extension Entitlements.RetentionOutcome {
  /// `nil` selects all.
  init?(_ outcome: Wire.RetentionOutcome) throws(Status) {
    switch outcome {
    case .pending: self = .pending
    case .saved: self = .saved
    case .offerTaken: self = .offerTaken
    case .switched: self = .switched
    case .left: self = .left
    case .unknown: self = .unknown
    case .unspecified: return nil
    case .unrecognized: throw .unknownValue(of: "outcome")
    }
  }
}

extension GetRetentionReportResponse {
  /// One row for each answer; `counts` are in the order of the answers.
  init(_ counts: [RetentionRequestCount]) {
    self.init()
    var sum = RetentionReportRow()
    for count in counts {
      let row = RetentionReportRow(count)
      if let last = rows.last, last.hasAnswer(of: row) {
        rows[rows.count - 1].add(count)
      } else {
        rows.append(row)
        rows[rows.count - 1].add(count)
      }
      sum.add(count)
    }
    total = sum
  }
}

extension RetentionReportRow {
  /// A row for the answer, without its count.
  fileprivate init(_ count: RetentionRequestCount) {
    self.init()
    rule = count.rule
    reason = count.reason.rawValue
    answer = Wire.RetentionAnswer(count.answer)
    messageIdentifier = count.messageID
    offeredProductId = count.offeredProductID
    offerIdentifier = count.offerID
  }

  fileprivate func hasAnswer(of other: RetentionReportRow) -> Bool {
    rule == other.rule && reason == other.reason && answer == other.answer
      && messageIdentifier == other.messageIdentifier && offeredProductId == other.offeredProductId
      && offerIdentifier == other.offerIdentifier
  }

  /// Adds requests with one outcome. The save rate counts those whose outcome is known.
  fileprivate mutating func add(_ count: RetentionRequestCount) {
    requests += count.count
    switch count.outcome {
    case .pending: pending += count.count
    case .saved: saved += count.count
    case .offerTaken: offerTaken += count.count
    case .switched: switched += count.count
    case .left: left += count.count
    case .unknown: unknown += count.count
    }
    let kept = saved + offerTaken + switched
    if kept + left > 0 { saveRate = Double(kept) / Double(kept + left) }
  }
}
