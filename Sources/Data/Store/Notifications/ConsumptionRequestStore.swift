package import AppStore

/// A `CONSUMPTION_REQUEST`, in which Apple requests usage data of a purchase before it decides about a
/// refund, with the state of the answer.
package struct ConsumptionRequestRecord: Hashable, Sendable {
  /// The progress of the answer. The raw values are stored and part of the API: never change one.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// Apple still accepts an answer.
    case open = "OPEN"
    /// Apple accepted the answer.
    case answered = "ANSWERED"
    /// Apple's deadline passed.
    case missed = "MISSED"
    /// Apple rejected the answer, or would reject any.
    case refused = "REFUSED"
    /// Apple decided about the refund without an answer (`REFUND`, `REFUND_DECLINED`).
    case decided = "DECIDED"
  }

  /// The evidence of the notification.
  package let id: EvidenceID
  /// The purchase of the transaction.
  package let line: LineKey
  /// The transaction for which the customer asked for a refund.
  package let transactionID: String
  /// Empty if the notification has none.
  package let productID: String
  /// Apple's `consumptionRequestReason`; empty if the notification has none.
  package let reason: String
  /// The time of the notification.
  package let requestedAt: Instant
  /// The time after which Apple decides without an answer.
  package let answerBy: Instant
  /// The progress of the answer; every state but ``State/open`` is final.
  package var state: State
  /// The reason code of a pending or missed request; otherwise empty.
  package var error: String
  /// The number of failed attempts.
  package var attempts: Int
  /// The time of the next attempt; `nil` once the request is closed.
  package var dueAt: Instant?
  /// The time at which the request was closed.
  package var settledAt: Instant?

  /// Apple's time limit for an answer, in milliseconds (App Store Server API, "Send Consumption
  /// Information").
  package static let answerTimeout: Int64 = 12 * 3_600_000

  /// Creates a new request, due at once.
  package init(
    id: EvidenceID, line: LineKey, transactionID: String, productID: String, reason: String,
    requestedAt: Instant
  ) {
    self.init(
      id: id, line: line, transactionID: transactionID, productID: productID, reason: reason,
      requestedAt: requestedAt, state: .open, error: "", attempts: 0, dueAt: requestedAt, settledAt: nil)
  }

  /// Creates a stored request.
  package init(
    id: EvidenceID, line: LineKey, transactionID: String, productID: String, reason: String,
    requestedAt: Instant, state: State, error: String, attempts: Int, dueAt: Instant?, settledAt: Instant?
  ) {
    self.id = id
    self.line = line
    self.transactionID = transactionID
    self.productID = productID
    self.reason = reason
    self.requestedAt = requestedAt
    answerBy = requestedAt.advanced(byMilliseconds: Self.answerTimeout)
    self.state = state
    self.error = error
    self.attempts = attempts
    self.dueAt = dueAt
    self.settledAt = settledAt
  }

  /// Closes the request in a final state.
  package mutating func settle(_ state: State, error: String = "", at instant: Instant) {
    self.state = state
    self.error = error
    dueAt = nil
    settledAt = instant
  }
}

/// A customer's consent that the service reports consumption to Apple.
package struct ConsumptionConsent: Hashable, Sendable {
  /// Whether the customer consents; otherwise the consent is withdrawn.
  package let isGiven: Bool
  /// When the customer decided.
  package let since: Instant
  /// The evidence of the customer's decision.
  package let evidenceID: EvidenceID

  /// Creates a consent from its parts.
  package init(isGiven: Bool, since: Instant, evidenceID: EvidenceID) {
    self.isGiven = isGiven
    self.since = since
    self.evidenceID = evidenceID
  }
}

/// Selects consumption requests; a `nil` member matches all.
package struct ConsumptionRequestFilter: Hashable, Sendable {
  /// The operator's name for the app.
  package var appID: String
  /// `nil`: all environments of the app.
  package var environment: Environment?
  /// `nil` matches requests in every state.
  package var state: ConsumptionRequestRecord.State?
  /// Only requests about purchases of these customers of the app; empty: of all. One customer may have another merge target
  /// in each environment.
  package var customers: [CustomerKey] = []
  /// Selects only the requests that follow this one in the order of the list.
  package var after: EvidenceID?
  /// The maximum number of requests; at least 1.
  package var limit: Int

  /// Selects the first `limit` requests of an app.
  package init(appID: String, limit: Int) {
    self.appID = appID
    self.limit = limit
  }
}

/// Stores consumption requests and customers' consents.
package protocol ConsumptionRequestStore {
  /// Inserts or replaces a request.
  func put(_ request: ConsumptionRequestRecord) throws(StoreError)

  /// Returns the request of a notification; `nil` if the notification contains none.
  func consumptionRequest(_ id: EvidenceID) throws(StoreError) -> ConsumptionRequestRecord?

  /// Returns all requests about a line, oldest first.
  func consumptionRequests(about line: LineKey) throws(StoreError) -> [ConsumptionRequestRecord]

  /// Returns the requests that were missed after `instant`, and the open ones that are due after `limit`.
  func consumptionRequests(
    missedAfter instant: Instant, orDueAfter limit: Instant, in domain: ClockDomain
  ) throws(StoreError) -> [ConsumptionRequestRecord]

  /// Makes the open requests about a line due at `instant`.
  func setDue(consumptionRequestsAbout line: LineKey, at instant: Instant) throws(StoreError)

  /// Inserts or replaces the consent of a customer.
  func put(_ consent: ConsumptionConsent, of customer: CustomerKey) throws(StoreError)
}

/// Reads consumption requests.
package protocol ConsumptionRequestReader {
  /// Returns the requests that match, latest first; those in the state ``ConsumptionRequestRecord/State/open`` by their
  /// deadlines, earliest first.
  func consumptionRequests(_ query: ConsumptionRequestFilter) throws(StoreError) -> [ConsumptionRequestRecord]

  /// Returns at most `limit` requests that are due by `instant`, the longest overdue first.
  func consumptionRequests(
    dueBy instant: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [ConsumptionRequestRecord]

  /// Returns the due time of the next request; `nil` if none is open.
  func nextConsumptionRequest(in domain: ClockDomain) throws(StoreError) -> Instant?

  /// Returns the number of open requests of each app environment that has any, with the earliest time of a request.
  func openConsumptionRequests() throws(StoreError) -> [OpenDuties]
}
