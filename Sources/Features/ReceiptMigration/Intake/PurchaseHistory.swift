internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import JSON
internal import Ledger
internal import SignedData
internal import Store

/// The signed documents that the App Store returned for the customer of some purchase lines. They are unverified; the
/// ledger verifies them when it ingests them.
struct PurchaseHistory: Sendable {
  /// The documents, in Apple's order.
  private(set) var documents: [Submission] = []
  /// The lines that were looked up, or that a response contains.
  private(set) var queriedLines: Set<String> = []
  /// The lines for which the App Store has no purchase.
  private(set) var unknownLines: [String] = []
  /// The error that ended the lookups early; `nil` if all lines were looked up.
  private(set) var failure: LookupError?
  /// The original transaction ids in the documents, by themselves and by the ids of their transactions.
  private var linesOfTransactions: [String: String] = [:]

  /// A receipt belongs to one Apple account, whose history contains all its lines, so that one or two requests are
  /// usual; beyond this number the rest is left for later.
  private static let maxRequests = 16

  /// Looks up each of `lines` that no earlier response contains, with `template` as the request; all requests end by
  /// `deadline`, if there is one. The first error ends the lookups, except an unknown purchase: the documents of
  /// earlier responses stay usable.
  init(
    of lines: [String], through lookup: PurchaseLookup, _ template: PurchaseLookup.Request,
    by deadline: CallDeadline? = nil
  ) async {
    var requests = 0
    for line in lines where !queriedLines.contains(line) {
      guard requests < Self.maxRequests else {
        failure = .appStore(.localRateLimit(endpoint: .transactionHistory, retryAfter: .seconds(60)))
        return
      }
      requests += 1
      var request = template
      request.transactionID = line
      if let deadline { request.timeout = deadline.remaining }
      do throws(LookupError) {
        add(try await lookup.fetchDocuments(request), of: line)
      } catch {
        guard error.isUnknownPurchase else {
          failure = error
          return
        }
        queriedLines.insert(line)
        unknownLines.append(line)
      }
    }
  }

  /// Whether the purchase of an id may be in another environment: this one does not have it, has no key or, as Production
  /// for an app without a release, rejects every token.
  var mayBeElsewhere: Bool {
    switch failure {
    case nil: !unknownLines.isEmpty
    case .noKey, .appStore(.unauthorized): true
    default: false
    }
  }

  /// The original transaction id of the purchase that a transaction belongs to; `nil` if no document names the transaction.
  func line(ofTransaction id: String) -> String? { linesOfTransactions[id] }

  /// Adds the documents of a response, and the lines that they are about.
  private mutating func add(_ documents: [Submission], of line: String) {
    self.documents += documents
    queriedLines.insert(line)
    for transaction in documents.compactMap(\.unverifiedTransaction) {
      guard let original = transaction["originalTransactionId"]?.stringValue else { continue }
      queriedLines.insert(original)
      linesOfTransactions[original] = original
      if let id = transaction["transactionId"]?.stringValue { linesOfTransactions[id] = original }
    }
  }
}

extension Submission {
  /// The id in the unverified transaction; `nil` if there is none.
  var originalTransactionID: String? { unverifiedTransaction?["originalTransactionId"]?.stringValue }

  /// The payload of the signed transaction; `nil` if there is none.
  fileprivate var unverifiedTransaction: JSONObject? {
    signedTransaction.flatMap { try? UnverifiedJWS($0) }?.payload
  }
}

/// The end of the time that all calls to Apple for one caller share.
struct CallDeadline: Sendable {
  private let end: Duration
  private let uptime: @Sendable () -> Duration

  /// Creates a deadline after `timeout`, by a monotonic clock.
  init(after timeout: Duration, _ uptime: @escaping @Sendable () -> Duration) {
    end = uptime() + timeout
    self.uptime = uptime
  }

  /// The time that is left; with zero or less, no call is made.
  var remaining: Duration { end - uptime() }
}

extension LookupError {
  /// Whether the App Store reports permanently that there is no such purchase.
  var isUnknownPurchase: Bool {
    guard case .appStore(.refused(let code, _)) = self, !code.isRetryable else { return false }
    return switch code {
    case .accountNotFound, .originalTransactionIdNotFound, .transactionIdNotFound, .invalidTransactionId,
      .invalidOriginalTransactionId, .appTransactionIdNotSupported:
      true
    default: false
    }
  }

  /// The ``reason`` of ``noKey(appID:environment:)``.
  static let noKeyReason = "NO_IN_APP_PURCHASE_KEY"

  /// The reason code.
  var reason: String {
    switch self {
    case .noKey: Self.noKeyReason
    case .appStore(.refused(let code, _)) where code.rawValue < 5_000_000:
      "APP_STORE_REFUSED_\(code.rawValue)"
    case .appStore(.unauthorized): "APP_STORE_KEY_REJECTED"
    case .appStore(.clockSkew): "CLOCK_SKEW"
    case .appStore(.rateLimited): "APP_STORE_RATE_LIMIT"
    case .appStore(.localRateLimit): "APP_STORE_RATE_LIMIT_LOCAL"
    case .appStore: "APP_STORE_UNAVAILABLE"
    case .cancelled: "CANCELLED"
    case .ledger: "STORE_UNAVAILABLE"
    case .rejectedDocument: "APP_STORE_RESPONSE_NOT_GENUINE"
    }
  }

  /// The time after which a retry may succeed: ten minutes if only the operator can change the cause.
  var retryAfter: Duration {
    switch self {
    case .noKey, .rejectedDocument: .seconds(600)
    case .appStore(let error): error.retryAfter ?? .seconds(60)
    case .cancelled: .zero
    case .ledger: .seconds(1)
    }
  }
}
