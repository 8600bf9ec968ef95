internal import AppStore
internal import Entitlements

/// Refund requests and what Apple decided about them.
///
/// The first refund or refusal after a request, and before the next request about the transaction, decides it. All postings of
/// a request are of the cohort of its day.
struct RefundRequestPostings {
  private(set) var postings: [Posting] = []

  /// Derives the postings of the requests about these purchases. Others, and those about shared purchases, are no postings.
  init(
    _ requests: [RefundRequest], _ facts: borrowing CustomerFacts, _ history: borrowing PayerHistory
  ) {
    guard !requests.isEmpty else { return }
    let transactions = facts.transactions
    let inOrder = requests.sorted { ($0.askedAt, $0.transactionID) < ($1.askedAt, $1.transactionID) }
    for (number, request) in inOrder.enumerated() {
      let own = transactions.filter { $0.originalTransactionID == request.line && !$0.isShared }
      // Of a non-consumable that was restored, one transaction stands for all.
      guard let fact = own.first(where: { $0.transactionID == request.transactionID }) ?? own.last else {
        continue
      }
      let next = inOrder[(number + 1)...].first { $0.transactionID == request.transactionID }
      add(
        request, Posting.Dimensions(fact, history.groups),
        Outcome(of: request, fact, before: next?.askedAt ?? .openEnd))
    }
  }

  /// Adds a request with our answer and Apple's decision, each in the cohort of the day of the request.
  private mutating func add(
    _ request: RefundRequest, _ dimensions: Posting.Dimensions, _ outcome: Outcome?
  ) {
    var asked = Posting(
      .refundAsked, at: request.askedAt, line: request.line, transactionID: request.transactionID, dimensions)
    (asked.count, asked.reason) = (1, request.reason)
    asked.cohort = Posting.Cohort(day: ReportDay(request.askedAt), dimensions: dimensions)
    postings.append(asked)
    if let answered = request.answeredAt {
      postings.append(asked.with { ($0.kind, $0.effectiveAt) = (.refundAnswered, answered) })
    }
    switch outcome {
    case .declined(let instant):
      postings.append(asked.with { ($0.kind, $0.effectiveAt) = (.refundDeclined, instant) })
    case .granted(let instant, let reversedAt):
      postings.append(asked.with { ($0.kind, $0.effectiveAt) = (.refundGranted, instant) })
      guard let reversedAt else { return }
      postings.append(asked.with { ($0.kind, $0.effectiveAt) = (.refundGrantReversed, reversedAt) })
    case nil: return
    }
  }

  /// Apple's decision about a request.
  private enum Outcome {
    case granted(Instant, reversedAt: Instant?)
    case declined(Instant)

    /// The first decision after a request and before `end`; `nil` without one.
    init?(of request: RefundRequest, _ fact: TransactionFact, before end: Instant) {
      var refunds = fact.reversedRefunds.map { (at: $0.refund.date, reversedAt: Optional($0.reversedAt)) }
      if fact.revocationType != .familyRevoke, let refunded = fact.refundedAt {
        refunds.append((refunded, nil))
      }
      let granted = refunds.filter { request.askedAt <= $0.at && $0.at < end }.min { $0.at < $1.at }
      let declined = request.declines.filter { request.askedAt <= $0 && $0 < end }.min()
      if let granted, granted.at <= declined ?? .openEnd {
        self = .granted(granted.at, reversedAt: granted.reversedAt)
      } else if let declined {
        self = .declined(declined)
      } else {
        return nil
      }
    }
  }
}
