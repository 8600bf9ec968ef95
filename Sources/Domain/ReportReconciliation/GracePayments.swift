internal import AppStore
internal import Reports

/// Payments in Apple's grace period. The period is dated back to the end of the one before, but Apple can report the charge
/// only when it is made.
struct GracePayments {
  /// The start of a period, or the time of its payment.
  private struct LineInstant: Hashable {
    let line: String
    let at: Instant
  }

  /// The period whose renewal failed.
  private struct Period: Hashable {
    let line: String
    let transactionID: String

    init(_ posting: Posting) { (line, transactionID) = (posting.line, posting.transactionID) }
  }

  private var payments: [LineInstant: Instant] = [:]
  private var starts: [LineInstant: Instant] = [:]
  private var conversions: Set<LineInstant> = []
  /// Payments for periods that start before the postings, so that neither their price nor their product is known here. They
  /// have the dimensions of the period before.
  private(set) var ofEarlierPeriods: [KnownPosting] = []

  init(_ postings: [KnownPosting]) {
    var entered: [Period: Instant] = [:]
    var charges: Set<LineInstant> = []
    for known in postings {
      let posting = known.posting
      switch posting.kind {
      case .graceEntered: entered[Period(posting)] = posting.effectiveAt
      case .charge: charges.insert(LineInstant(line: posting.line, at: posting.effectiveAt))
      case .converted: conversions.insert(LineInstant(line: posting.line, at: posting.effectiveAt))
      default: break
      }
    }
    for known in postings where known.posting.kind == .graceRecovered {
      let posting = known.posting
      let paid = LineInstant(line: posting.line, at: posting.effectiveAt)
      // A period that starts with its payment is not dated back.
      if charges.contains(paid) { continue }
      guard let start = entered[Period(posting)] else {
        ofEarlierPeriods.append(known)
        continue
      }
      guard charges.contains(LineInstant(line: posting.line, at: start)) else { continue }
      payments[LineInstant(line: posting.line, at: start)] = posting.effectiveAt
      starts[paid] = start
    }
  }

  /// Whether a payment ended a trial. The reports of events count that conversion on the day of the payment.
  func isConversion(_ payment: Posting) -> Bool {
    conversions.contains(LineInstant(line: payment.line, at: payment.effectiveAt))
  }

  /// When what a posting counts was paid: later than its period starts, if that was in the grace period.
  func payment(of posting: Posting) -> Instant {
    payments[LineInstant(line: posting.line, at: posting.effectiveAt)] ?? posting.effectiveAt
  }

  /// The start of the period that was paid in the grace period at an instant; `nil` if none was.
  func start(of line: String, paidAt instant: Instant) -> Instant? {
    starts[LineInstant(line: line, at: instant)]
  }
}
