internal import AppStore

/// An event of a subscription, under Apple's name (App Store Connect Help: "Subscription events").
struct ReportedEvent: Hashable, Sendable {
  let name: String
  let at: Instant
  /// The period that the event begins or ends.
  let sold: SoldTransaction
  /// The period before a change of product.
  var previous: SoldTransaction?
  /// Empty unless the event ends the subscription.
  var cancellationReason = ""
}

/// A subscription at an instant, as the Subscription report counts it.
struct ReportedStock: Hashable, Sendable {
  let sold: SoldTransaction
  let status: SubscriptionLine.Status
  let isAfterOneYear: Bool
}

extension World {
  /// The events in a span of time, with one refund event for each refunded transaction, by time.
  func subscriptionEvents(of app: String, in span: Range<Instant>) -> [ReportedEvent] {
    let changes = records.filter { span.contains($0.at) && lines[$0.line]?.app == app }
      .compactMap { $0.isNewPeriod ? beginning($0) : ending($0) }
    let refunded = sales(of: app, in: span).filter { $0.isRefund && lines[$0.sold.originalID] != nil }
    var seen: Set<Int64> = []
    let refunds = refunded.filter { seen.insert($0.sold.id).inserted }
      .map { ReportedEvent(name: "Refund", at: $0.at, sold: $0.sold) }
    return (changes + refunds).sorted { ($0.at, $0.sold.id) < ($1.at, $1.sold.id) }
  }

  /// The subscriptions in force, in grace or in billing retry just before an instant.
  func stocks(of app: String, before instant: Instant) -> [ReportedStock] {
    var latest: [Int64: SubscriptionRecord] = [:]
    for record in records where record.at < instant && lines[record.line]?.app == app {
      latest[record.line] = record
    }
    return latest.values.sorted { $0.line < $1.line }.compactMap { record in
      guard let sold = transactions[record.current] else { return nil }
      switch record.to {
      case .active, .grace, .retry:
        return ReportedStock(sold: sold, status: record.to, isAfterOneYear: isAfterOneYear(sold))
      case .ended, .revoked: return nil
      }
    }
  }

  /// The event of a record that began a period.
  private func beginning(_ record: SubscriptionRecord) -> ReportedEvent? {
    guard let sold = transactions[record.current] else { return nil }
    let before = record.previous.flatMap { transactions[$0] }
    var event = ReportedEvent(name: name(of: sold, before, record.from), at: record.at, sold: sold)
    if before?.productID != sold.productID { event.previous = before }
    return event
  }

  /// Apple's name of the event with which a period begins.
  private func name(
    of sold: SoldTransaction, _ before: SoldTransaction?, _ status: SubscriptionLine.Status?
  ) -> String {
    guard let before, let status else { return sold.offer.map { "Start \($0.reportName)" } ?? "Subscribe" }
    switch (status, sold.reason) {
    case (.ended, _), (.revoked, _), (.retry, .purchase):
      let change = change(from: before, to: sold).map { " with \($0)" } ?? ""
      return "Reactivate\(change)" + (sold.offer.map { " to \($0.reportName)" } ?? "")
    case (.retry, _): return "Renewal from Billing Retry"
    case (.grace, .renewal): return "Renewal from Grace Period"
    case (.active, _), (.grace, _):
      if let change = change(from: before, to: sold) {
        return change + (before.offer.map { " from \($0.reportName)" } ?? "")
      }
      guard let offer = before.offer else {
        return sold.offer.map { "\($0.reportName) from Paid Subscription" } ?? "Renew"
      }
      return sold.offer == nil ? "Paid Subscription from \(offer.reportName)" : "Renew"
    }
  }

  /// The name of a change of product; `nil` if there is none.
  private func change(from before: SoldTransaction, to sold: SoldTransaction) -> String? {
    guard before.productID != sold.productID else { return nil }
    let levels = [before, sold].map { product($0.productID, of: $0.app)?.level ?? 1 }
    if levels[1] < levels[0] { return "Upgrade" }
    return levels[1] > levels[0] ? "Downgrade" : "Crossgrade"
  }

  /// The event of a record that ended access or renewal; `nil` for a change that Apple counts as no event.
  private func ending(_ record: SubscriptionRecord) -> ReportedEvent? {
    guard let sold = transactions[record.current], let from = record.from else { return nil }
    let kind = sold.offer?.reportName ?? "Paid Subscription"
    let name: String
    switch (from, record.to) {
    case (.active, .grace): name = "Grace Period from \(kind)"
    case (.active, .retry): name = "Billing Retry from \(kind)"
    case (.grace, .retry): name = "Billing Retry from Grace Period"
    case (.active, .ended): name = "Cancel"
    case (.grace, .ended): name = "Canceled from Billing Grace Period"
    case (.retry, .ended): name = "Canceled from Billing Retry"
    default: return nil
    }
    var event = ReportedEvent(name: name, at: record.at, sold: sold)
    if case .ended(let intent) = record.to { event.cancellationReason = intent.reportName }
    return event
  }
}

extension Offer {
  /// The name of the offer's type in events.
  var reportName: String {
    switch type {
    case .introductory: "Introductory Offer"
    case .offerCode: "Offer Code"
    case .winBack: "Win-Back Offer"
    case .promotional, .retention, .unrecognized: "Promotional Offer"
    }
  }
}

extension ExpirationIntent {
  /// The `Cancellation Reason`.
  fileprivate var reportName: String {
    switch self {
    case .customerCancelled: "Canceled"
    case .billingError: "Billing Issue"
    case .priceIncreaseNotAccepted: "Price Increase"
    case .productUnavailable: "Removed from Sale"
    case .other, .unrecognized: "Other"
    }
  }
}
