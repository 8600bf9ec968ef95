internal import AppStore
internal import Entitlements
internal import Reports
internal import Store

/// The derived postings of one payer.
struct PayerState {
  let lines: [LineKey]
  /// When time alone next changes the postings.
  var due: Instant?
  /// The fingerprints of the standing postings of each purchase, in the order of ``lines``.
  var standing: [[UInt64]] = []
  /// When customers owned each purchase.
  var claims: [String: PurchaseClaims] = [:]
  /// The refund requests about each purchase.
  var requests: [KnownRefundRequests] = []
  /// The withdrawn consents, if the line is an app install instead of a purchase.
  var consents: KnownConsents?
  /// The index in ``ReportBatch/new`` of the first postings that may be the payer's.
  var firstAppended = 0
  /// The last evidence that counts; `nil`: all.
  var lastEvidence: EvidenceID?
  /// The stored state of each purchase, in the order of ``lines``.
  var stored: [ReportLineState] = []

  init(lines: [LineKey]) { self.lines = lines }
}

/// The purchases of payers, and the facts about them.
typealias Payers = [(lines: [LineKey], facts: CustomerFacts)]
