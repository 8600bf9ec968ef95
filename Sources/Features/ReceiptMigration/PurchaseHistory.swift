internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import JSON
internal import Ledger
internal import SignedData
internal import Store

/// What Apple says of the customer behind some purchase lines.
struct PurchaseHistory: Sendable {
  /// What Apple signed, in its order.
  private(set) var documents: [Submission] = []
  /// The lines about which Apple was asked, or which its answers tell of.
  private(set) var queriedLines: Set<String> = []
  /// Lines about which Apple knows nothing, and will not.
  private(set) var unknownLines: [String] = []
  /// Why Apple could not be asked about the rest; `nil` if there is no rest.
  private(set) var failure: LookupError?

  /// A receipt is one Apple account's, whose history tells of all its lines: more questions than this mean
  /// that something is odd, and the rest waits.
  private static let maxRequests = 16

  /// Asks about each of `lines` that the answers so far do not tell of.
  init(
    of lines: [String], through lookup: PurchaseLookup, _ template: PurchaseLookup.Request
  ) async {
    var questions = 0
    for line in lines where !queriedLines.contains(line) {
      guard questions < Self.maxRequests else {
        failure = .appStore(.localRateLimit(endpoint: .transactionHistory, retryAfter: .seconds(60)))
        return
      }
      questions += 1
      var question = template
      question.transactionID = line
      do throws(LookupError) {
        take(try await lookup.fetchDocuments(question), about: line)
      } catch {
        guard error.isForGood else {
          failure = error
          return
        }
        queriedLines.insert(line)
        unknownLines.append(line)
      }
    }
  }

  private mutating func take(_ documents: [Submission], about line: String) {
    self.documents += documents
    queriedLines.insert(line)
    for document in documents {
      guard let text = document.signedTransaction, let jws = try? UnverifiedJWS(text),
        let number = jws.payload["originalTransactionId"]?.stringValue
      else { continue }
      queriedLines.insert(number)
    }
  }
}

extension LookupError {
  /// Whether Apple says that there is no such purchase, now and later.
  var isForGood: Bool {
    guard case .appStore(.refused(let code, _)) = self, !code.isRetryable else { return false }
    return switch code {
    case .accountNotFound, .originalTransactionIdNotFound, .transactionIdNotFound, .invalidTransactionId,
      .invalidOriginalTransactionId, .appTransactionIdNotSupported:
      true
    default: false
    }
  }

  /// The ``reason`` where nobody gave us a key to ask with.
  static let noKeyReason = "NO_IN_APP_PURCHASE_KEY"

  /// A code for machines.
  var reason: String {
    switch self {
    case .noKey: Self.noKeyReason
    case .appStore(.refused(let code, _)) where code.rawValue < 5_000_000:
      "APP_STORE_REFUSED_\(code.rawValue)"
    case .appStore(.unauthorized), .appStore(.clockSkew): "APP_STORE_KEY_REJECTED"
    case .appStore(.rateLimited), .appStore(.localRateLimit): "APP_STORE_RATE_LIMIT_LOCAL"
    case .appStore: "APP_STORE_UNAVAILABLE"
    case .ledger: "STORE_UNAVAILABLE"
    case .rejectedDocument: "APP_STORE_RESPONSE_NOT_GENUINE"
    }
  }

  /// After which time asking again may help.
  var retryAfter: Duration {
    switch self {
    case .noKey: .seconds(600)
    case .appStore(let error): error.retryAfter ?? .seconds(60)
    case .ledger: .seconds(1)
    case .rejectedDocument: .seconds(600)
    }
  }
}
