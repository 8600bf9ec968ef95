package import AppStore

/// Bytes that arrived, verbatim, with source, arrival time and verdict. Append-only.
package struct Evidence: Hashable, Sendable {
  /// The format of the bytes, such as `SIGNED_TRANSACTION`.
  package struct Kind: RawRepresentable, Hashable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// Apple's signed transaction, a JWS.
    package static let signedTransaction = Kind(rawValue: "SIGNED_TRANSACTION")
    /// Apple's signed renewal info, a JWS.
    package static let signedRenewalInfo = Kind(rawValue: "SIGNED_RENEWAL_INFO")
  }

  /// The route by which the bytes arrived, such as `SUBMISSION`.
  package struct Source: RawRepresentable, Hashable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// Submitted by a caller of the service on behalf of a customer.
    package static let submission = Source(rawValue: "SUBMISSION")
    /// Posted to the edge, by Apple unless it is rejected.
    package static let notification = Source(rawValue: "NOTIFICATION")
  }

  /// The result of verification.
  package enum Verdict: Hashable, Sendable {
    /// It verified; it may have changed facts.
    case accepted
    /// Rejected, with a reason code such as `BAD_SIGNATURE`.
    case rejected(reason: String)
  }

  /// The operator's name for the app.
  package var appID: String
  /// `nil` if it could not be determined.
  package var environment: Environment?
  /// The customer on whose behalf it was submitted; `nil` if there is none.
  package var customerID: String?
  /// The format of the bytes.
  package var kind: Kind
  /// The route by which the bytes arrived.
  package var source: Source
  /// The arrival time by the service's clock, or by that of a relay.
  package var receivedAt: Instant
  /// The time of the write that stores it, before which it cannot be known; `nil`: at ``receivedAt``.
  package var recordedAt: Instant?
  /// The bytes with their hash.
  package var content: EvidenceContent
  /// The result of verification.
  package var verdict: Verdict

  /// Creates evidence from its parts.
  package init(
    appID: String, environment: Environment?, customerID: String?, kind: Kind, source: Source,
    receivedAt: Instant, content: EvidenceContent, verdict: Verdict
  ) {
    self.appID = appID
    self.environment = environment
    self.customerID = customerID
    self.kind = kind
    self.source = source
    self.receivedAt = receivedAt
    self.content = content
    self.verdict = verdict
  }
}

/// The bytes that arrived, or only their hash and size if they were too large or purged.
package struct EvidenceContent: Hashable, Sendable {
  /// The SHA-256 hash of the bytes: 32 bytes.
  package let hash: [UInt8]
  /// The number of bytes that arrived.
  package let size: Int
  /// The bytes; `nil` if they are not stored.
  package let body: [UInt8]?

  /// The maximum size of a stored body: 1 MiB. Larger bodies are reduced to hash and size.
  package static let limit = 1 << 20

  /// Creates the content of `bytes`, whose SHA-256 is `hash`; above `limit` bytes it has only the hash and
  /// the size.
  package init(_ bytes: [UInt8], hash: [UInt8], keepingAtMost limit: Int = limit) {
    self.init(hash: hash, size: bytes.count, body: bytes.count <= limit ? bytes : nil)
  }

  /// Creates content from its stored parts.
  package init(hash: [UInt8], size: Int, body: [UInt8]?) {
    self.hash = hash
    self.size = size
    self.body = body
  }
}

/// The id of a piece of evidence; ids increase in order of arrival.
package struct EvidenceID: RawRepresentable, Hashable, Comparable, Sendable {
  /// From 1 on.
  package let rawValue: Int64
  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static func < (left: EvidenceID, right: EvidenceID) -> Bool { left.rawValue < right.rawValue }
}

/// Evidence with its assigned id.
package struct StoredEvidence: Hashable, Sendable {
  /// The assigned id.
  package let id: EvidenceID
  package let evidence: Evidence
  /// When it became known: when its write ran, but from commit to commit never earlier, whatever the clock does. Readers
  /// see it after the commit, which is later.
  package let knownAt: Instant
  /// False for evidence that was read and that an append of equal evidence does not find: Apple identifies it, or its
  /// content was replaced.
  package let isFoundByContent: Bool

  /// Creates stored evidence from its parts.
  package init(id: EvidenceID, evidence: Evidence, knownAt: Instant, isFoundByContent: Bool = true) {
    self.id = id
    self.evidence = evidence
    self.knownAt = knownAt
    self.isFoundByContent = isFoundByContent
  }

  /// The evidence after it was appended.
  package init(_ appended: AppendedEvidence, _ evidence: Evidence) {
    self.init(id: appended.id, evidence: evidence, knownAt: appended.knownAt)
  }
}
