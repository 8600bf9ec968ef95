internal import AppStore
internal import Entitlements
internal import Reports
internal import Store

/// The derived postings of one payer while a batch derives them: what is stored, and what changes from one instant to
/// the next.
struct PayerState {
  /// The payer's purchases, or the one app install.
  let lines: [LineKey]
  /// When time alone next changes the postings.
  var due: Instant?
  /// The fingerprints of the postings of each purchase that are not reversed, in the order of ``lines``. A derivation
  /// compares itself with them.
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
}

/// The purchases of payers, and the facts about them.
typealias Payers = [(lines: [LineKey], facts: CustomerFacts)]
