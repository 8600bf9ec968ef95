package import AppStore

/// Something that arrived, verbatim: appended once, never changed.
package struct Evidence: Hashable, Sendable {
  /// What arrived: a word for each format, such as `SIGNED_TRANSACTION`.
  package struct Kind: RawRepresentable, Hashable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// A JWS transaction of Apple's.
    package static let signedTransaction = Kind(rawValue: "SIGNED_TRANSACTION")
    /// A JWS renewal info of Apple's.
    package static let signedRenewalInfo = Kind(rawValue: "SIGNED_RENEWAL_INFO")
  }

  /// The way by which it arrived, such as `SUBMISSION`.
  package struct Source: RawRepresentable, Hashable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    /// Handed in by a caller of the service, on behalf of a customer.
    package static let submission = Source(rawValue: "SUBMISSION")
  }

  /// What came of its verification.
  package enum Verdict: Hashable, Sendable {
    case accepted
    /// Not to be believed; the reason is a code such as `BAD_SIGNATURE`.
    case rejected(reason: String)
  }

  /// The operator's name for the app.
  package var appID: String
  /// `nil` if it could not be established.
  package var environment: Environment?
  /// The customer on whose behalf it came; `nil` if it came on nobody's.
  package var customerID: String?
  /// What arrived.
  package var kind: Kind
  /// The way by which it arrived.
  package var source: Source
  /// When it arrived, by the service's clock.
  package var receivedAt: Instant
  /// The bytes.
  package var content: EvidenceContent
  /// What came of its verification.
  package var verdict: Verdict

  /// Evidence by its parts.
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

/// The bytes that arrived, or what is left of those that were too many to keep.
package struct EvidenceContent: Hashable, Sendable {
  /// The SHA-256 of the bytes; always 32.
  package let hash: [UInt8]
  /// How many bytes arrived.
  package let size: Int
  /// The bytes; `nil` if they were not kept.
  package let body: [UInt8]?

  /// The most bytes of which more than the hash and the number are kept.
  package static let limit = 1 << 20

  /// The content of `bytes`, whose SHA-256 is `hash`; of more than `limit` bytes only the hash and the size are kept.
  package init(_ bytes: [UInt8], hash: [UInt8], keepingAtMost limit: Int = limit) {
    self.init(hash: hash, size: bytes.count, body: bytes.count <= limit ? bytes : nil)
  }

  /// Content as a store has kept it.
  package init(hash: [UInt8], size: Int, body: [UInt8]?) {
    self.hash = hash
    self.size = size
    self.body = body
  }
}

/// The number of one piece of evidence; later ones have greater numbers.
package struct EvidenceID: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: Int64
  package init(rawValue: Int64) { self.rawValue = rawValue }

  package static func < (left: EvidenceID, right: EvidenceID) -> Bool { left.rawValue < right.rawValue }
}

/// Evidence with the number it was given.
package struct StoredEvidence: Hashable, Sendable {
  /// Its number.
  package let id: EvidenceID
  /// What arrived.
  package let evidence: Evidence

  /// Evidence as it is in the store.
  package init(id: EvidenceID, evidence: Evidence) {
    self.id = id
    self.evidence = evidence
  }
}
