package import AppStore
package import Entitlements
internal import SignedData
package import Store

/// Returns the instant `day` days and `hours` after the start of the tests' calendar.
package func at(_ day: Int64, hours: Int64 = 0) -> Instant {
  Instant(millisecondsSince1970: 1_800_000_000_000 + day * 86_400_000 + hours * 3_600_000)
}

extension TransactionFact {
  /// Returns a copy with `change` applied.
  package func with(_ change: (inout TransactionFact) -> Void) -> TransactionFact {
    var copy = self
    change(&copy)
    return copy
  }
}

extension EvidenceContent {
  /// The content of `bytes` with their SHA-256, as the ledger stores it.
  package init(_ bytes: [UInt8], keepingAtMost limit: Int = EvidenceContent.limit) {
    self.init(bytes, hash: SHA256.hash(bytes[...]), keepingAtMost: limit)
  }
}
