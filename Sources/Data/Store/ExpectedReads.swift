package import AppStore

/// The rows that a write body will read, as far as its caller can name them in advance.
///
/// A store whose reads cost a round trip each fetches the rows of all bodies of a commit together, before it runs them.
/// A row that is missing here costs time and nothing else.
package struct ExpectedReads: Sendable {
  /// Purchases and other lines, with their owners and the owners' answers.
  package var lines: Set<LineKey> = []
  /// The transactions that the body stores.
  package var transactions: Set<TransactionKey> = []
  /// The customers that the body names.
  package var customers: Set<CustomerKey> = []
  /// The `notificationUUID`s of notifications.
  package var notifications: Set<ScopedID> = []
  /// `appAccountToken`s in lower case.
  package var tokens: Set<ScopedID> = []
  /// The hashes of the idempotency keys of requests.
  package var idempotencyKeys: Set<[UInt8]> = []
  /// The evidence that the body appends, unless a `notificationUUID` identifies it.
  package var evidence: Set<EvidenceIdentity> = []

  /// Creates a value without rows.
  package init() {}

  /// Whether there are no rows.
  package var isEmpty: Bool {
    lines.isEmpty && transactions.isEmpty && customers.isEmpty && notifications.isEmpty && tokens.isEmpty
      && idempotencyKeys.isEmpty && evidence.isEmpty
  }

  /// Adds the rows that another body will read.
  package mutating func formUnion(_ other: ExpectedReads) {
    lines.formUnion(other.lines)
    transactions.formUnion(other.transactions)
    customers.formUnion(other.customers)
    notifications.formUnion(other.notifications)
    tokens.formUnion(other.tokens)
    idempotencyKeys.formUnion(other.idempotencyKeys)
    evidence.formUnion(other.evidence)
  }
}

/// An id that identifies something within one app and environment, such as a token.
package struct ScopedID: Hashable, Sendable {
  package let id: String
  package let appID: String
  package let environment: Environment

  /// Creates an id from its parts.
  package init(_ id: String, of appID: String, in environment: Environment) {
    self.id = id
    self.appID = appID
    self.environment = environment
  }
}

/// Identifies a transaction of a line.
package struct TransactionKey: Hashable, Sendable {
  package let line: LineKey
  package let transactionID: String

  /// Creates a key from its parts.
  package init(_ transactionID: String, of line: LineKey) {
    self.line = line
    self.transactionID = transactionID
  }
}

/// The parts by which evidence is equal to other evidence.
package struct EvidenceIdentity: Hashable, Sendable {
  /// SHA-256.
  package let contentHash: [UInt8]
  package let appID: String
  package let kind: Evidence.Kind
  /// Empty if there is none.
  package let customerID: String
  /// The reason code of a rejection; empty if it was accepted.
  package let rejection: String

  /// The identity of `evidence`.
  package init(_ evidence: Evidence) {
    contentHash = evidence.content.hash
    appID = evidence.appID
    kind = evidence.kind
    customerID = evidence.customerID ?? ""
    rejection =
      switch evidence.verdict {
      case .accepted: ""
      case .rejected(let reason): reason
      }
  }
}
