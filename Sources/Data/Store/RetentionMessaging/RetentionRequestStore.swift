package import AppStore
package import Entitlements

/// A request of Apple's for a retention message, with its answer and what the subscriber did afterwards.
package struct RetentionRequestRecord: Hashable, Sendable {
  /// The kind of an answer. The raw values are stored.
  package enum AnswerKind: String, Hashable, Sendable, CaseIterable {
    /// No message of the operator's: Apple shows its own page.
    case nothing = "NOTHING"
    /// A message.
    case message = "MESSAGE"
    /// A message with another product of the group.
    case alternateProduct = "ALTERNATE_PRODUCT"
    /// A message with a promotional offer.
    case promotionalOffer = "PROMOTIONAL_OFFER"
  }

  /// Apple's `requestIdentifier`.
  package let requestID: String
  /// The subscription.
  package let line: LineKey
  /// The product of the subscription, as the request names it.
  package let productID: String
  /// The product with which the subscription was to renew; empty if not known.
  package var renewalProductID = ""
  /// The language and region of the device, such as `en-US`.
  package var locale = ""
  /// When Apple signed the request.
  package let askedAt: Instant
  /// When the request arrived.
  package let receivedAt: Instant
  /// The kind of the answer.
  package var answer = AnswerKind.nothing
  /// The reason for the answer.
  package var reason = RetentionReason.notConfigured
  /// The rule that decided; empty without one.
  package var rule = ""
  /// The message of the answer; empty without one.
  package var messageID = ""
  /// The product of an offer or a switch; empty without one.
  package var offeredProductID = ""
  /// The promotional offer; empty without one.
  package var offerID = ""
  /// The time from the arrival to the answer.
  package var microseconds: Int64 = 0
  /// The subscriber's decision afterwards.
  package var outcome = RetentionOutcome.pending
  /// When the outcome was last evaluated; `nil`: not yet.
  package var evaluatedAt: Instant?
  /// The time of the next evaluation; `nil`: the outcome is final.
  package var dueAt: Instant?

  /// Creates a record of a request without an answer.
  package init(
    requestID: String, line: LineKey, productID: String, askedAt: Instant, receivedAt: Instant
  ) {
    self.requestID = requestID
    self.line = line
    self.productID = productID
    self.askedAt = askedAt
    self.receivedAt = receivedAt
  }

  /// The part of the request that decides the outcome.
  package var followUp: RetentionFollowUp {
    RetentionFollowUp(
      askedAt: askedAt, productID: productID, renewalProductID: renewalProductID, offerID: offerID)
  }
}

/// Selects requests of an app; a `nil` member matches all.
package struct RetentionRequestFilter: Hashable, Sendable {
  package var appID: String
  /// `nil`: all environments of the app.
  package var environment: Environment?
  /// `nil` matches every outcome, also one that is not known yet.
  package var outcome: RetentionOutcome?
  /// The `originalTransactionId` of a subscription.
  package var lineID: String?
  /// Received at this instant or later.
  package var from: Instant?
  /// Received before this instant.
  package var to: Instant?
  /// The last request of the previous page.
  package var after: TimedPosition?
  /// The maximum number of requests; at least 1.
  package var limit: Int

  /// Selects the latest `limit` requests of an app.
  package init(appID: String, limit: Int) {
    self.appID = appID
    self.limit = limit
  }
}

/// The number of requests that had the same answer for the same reason, and the same outcome.
package struct RetentionRequestCount: Hashable, Sendable {
  /// The rule that decided; empty without one.
  package let rule: String
  package let reason: RetentionReason
  package let answer: RetentionRequestRecord.AnswerKind
  /// Apple's UUID of the message that was shown; empty without one.
  package let messageID: String
  /// The product that was offered instead; empty without one.
  package let offeredProductID: String
  /// The promotional offer that was shown; empty without one.
  package let offerID: String
  package let outcome: RetentionOutcome
  /// At least 1.
  package let count: Int64

  /// Creates a count from its parts.
  package init(
    rule: String, reason: RetentionReason, answer: RetentionRequestRecord.AnswerKind, messageID: String,
    offeredProductID: String, offerID: String, outcome: RetentionOutcome, count: Int64
  ) {
    self.rule = rule
    self.reason = reason
    self.answer = answer
    self.messageID = messageID
    self.offeredProductID = offeredProductID
    self.offerID = offerID
    self.outcome = outcome
    self.count = count
  }
}

/// Stores requests for retention messages.
package protocol RetentionRequestStore {
  /// Inserts a request, unless it is stored already: Apple may repeat one.
  func insert(_ request: RetentionRequestRecord) throws(StoreError)

  /// Replaces the outcome, the time of its evaluation and that of the next one.
  func updateOutcome(of request: RetentionRequestRecord) throws(StoreError)

  /// Deletes at most `limit` requests of `domain` with a final outcome that were received before `instant`.
  ///
  /// - Returns: the number of deleted requests.
  func deleteRetentionRequests(
    in domain: ClockDomain, receivedBefore instant: Instant, limit: Int
  ) throws(StoreError) -> Int
}

/// Reads requests for retention messages, and what their answers depend on.
package protocol RetentionRequestReader {
  /// Returns the requests that match, latest first.
  func retentionRequests(
    _ query: RetentionRequestFilter
  ) throws(StoreError) -> [RetentionRequestRecord]

  /// Returns the number of requests of an app with each answer and outcome, received from `from` on and before `to`.
  func retentionRequestCounts(
    of appID: String, in environment: Environment?, from: Instant?, to: Instant?
  ) throws(StoreError) -> [RetentionRequestCount]

  /// Returns at most `limit` requests whose outcome is to be evaluated by `instant`, the longest overdue first.
  func retentionRequests(
    dueBy instant: Instant, in domain: ClockDomain, limit: Int
  ) throws(StoreError) -> [RetentionRequestRecord]

  /// Returns the time of the next evaluation; `nil` if none is due.
  func nextRetentionRequest(in domain: ClockDomain) throws(StoreError) -> Instant?

  /// Whether a customer of the line requested a refund that Apple may not have decided: one that is open, or was
  /// answered or missed at `instant` or later.
  func hasOpenRefundRequest(about line: LineKey, since instant: Instant) throws(StoreError) -> Bool
}
