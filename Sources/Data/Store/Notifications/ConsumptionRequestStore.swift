package import AppStore

/// A question of Apple's about a purchase whose customer wants the money back (`CONSUMPTION_REQUEST`), and what
/// became of it.
package struct ConsumptionRequestRecord: Hashable, Sendable {
  /// What became of it.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// It can still be answered.
    case open = "OPEN"
    /// Apple took the answer.
    case answered = "ANSWERED"
    /// Apple's time is over.
    case missed = "MISSED"
    /// Apple refused the answer, or would.
    case refused = "REFUSED"
  }

  /// The evidence of the notification that asked.
  package let id: EvidenceID
  /// The purchase line.
  package let line: LineKey
  /// The one purchase of it.
  package let transactionID: String
  /// Empty if the notification did not say.
  package let productID: String
  /// The customer's reason, in Apple's words (`consumptionRequestReason`); empty if Apple did not say.
  package let reason: String
  /// When Apple asked.
  package let requestedAt: Instant
  /// When Apple decides without an answer.
  package let answerBy: Instant
  /// What became of it.
  package var state: State
  /// Why it waits, or was never answered: a code for machines; else empty.
  package var problem: String
  /// How often Apple was told in vain.
  package var attempts: Int
  /// When it is looked at next; `nil` once it is settled.
  package var dueAt: Instant?
  /// When it was settled.
  package var settledAt: Instant?

  /// How long Apple waits for an answer (App Store Server API, "Send Consumption Information").
  package static let patience: Int64 = 12 * 3_600_000

  /// A question as it arrived, to be looked at at once.
  package init(
    id: EvidenceID, line: LineKey, transactionID: String, productID: String, reason: String,
    requestedAt: Instant
  ) {
    self.init(
      id: id, line: line, transactionID: transactionID, productID: productID, reason: reason,
      requestedAt: requestedAt, state: .open, problem: "", attempts: 0, dueAt: requestedAt, settledAt: nil)
  }

  /// A question as a store has kept it.
  package init(
    id: EvidenceID, line: LineKey, transactionID: String, productID: String, reason: String,
    requestedAt: Instant, state: State, problem: String, attempts: Int, dueAt: Instant?, settledAt: Instant?
  ) {
    self.id = id
    self.line = line
    self.transactionID = transactionID
    self.productID = productID
    self.reason = reason
    self.requestedAt = requestedAt
    answerBy = requestedAt.advanced(byMilliseconds: Self.patience)
    self.state = state
    self.problem = problem
    self.attempts = attempts
    self.dueAt = dueAt
    self.settledAt = settledAt
  }

  /// Nothing more can become of it.
  package mutating func settle(_ state: State, problem: String = "", at moment: Instant) {
    self.state = state
    self.problem = problem
    dueAt = nil
    settledAt = moment
  }
}

/// Whether a customer agreed that Apple is told how much of a purchase was used.
package struct ConsumptionConsent: Hashable, Sendable {
  /// Agreed, or no longer.
  package let isGiven: Bool
  /// Since when.
  package let since: Instant
  /// Where that was recorded.
  package let evidenceID: EvidenceID

  /// A consent by its parts.
  package init(isGiven: Bool, since: Instant, evidenceID: EvidenceID) {
    self.isGiven = isGiven
    self.since = since
    self.evidenceID = evidenceID
  }
}

/// Which of Apple's questions are asked for; what is `nil` excludes none.
package struct ConsumptionRequestFilter: Hashable, Sendable {
  package var appID: String
  package var environment: Environment?
  package var state: ConsumptionRequestRecord.State?
  package var customerID: String?
  /// Only those that arrived before this one.
  package var before: EvidenceID?
  package var limit: Int

  /// The latest `limit` questions about an app.
  package init(appID: String, limit: Int) {
    self.appID = appID
    self.limit = limit
  }
}

/// Keeps Apple's questions until they are answered, and what customers agreed to.
package protocol ConsumptionRequestStore {
  /// Remembers a question, or what became of it since.
  func put(_ inquiry: ConsumptionRequestRecord) throws(StoreError)

  /// The question that a notification asked; `nil` if it asked none.
  func inquiry(_ id: EvidenceID) throws(StoreError) -> ConsumptionRequestRecord?

  /// All questions about a line, the first one first.
  func inquiries(about line: LineKey) throws(StoreError) -> [ConsumptionRequestRecord]

  /// At most `limit` questions that are to be looked at by `moment`, those that are due longest first.
  func inquiries(dueBy moment: Instant, limit: Int) throws(StoreError) -> [ConsumptionRequestRecord]

  /// Remembers whether a customer agreed.
  func put(_ consent: ConsumptionConsent, of customer: CustomerKey) throws(StoreError)

  /// The customer's latest word, or that of those who were joined into it; `nil` if there is none.
  func consent(of customer: CustomerKey) throws(StoreError) -> ConsumptionConsent?
}

/// Reads what ``ConsumptionRequestStore`` keeps.
package protocol ConsumptionRequestReader {
  /// The questions that are asked for, the latest first.
  func inquiries(_ query: ConsumptionRequestFilter) throws(StoreError) -> [ConsumptionRequestRecord]

  /// When a question is to be looked at next; `nil` if none is open.
  func nextInquiry() throws(StoreError) -> Instant?

  /// How many questions are open, where there are any.
  func openInquiries() throws(StoreError) -> [OpenConsumptionRequests]

  /// As ``ConsumptionRequestStore/consent(of:)``.
  func consent(of customer: CustomerKey) throws(StoreError) -> ConsumptionConsent?
}
