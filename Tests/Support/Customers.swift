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

extension EntitlementStore {
  /// Returns the result of `body` over one snapshot, as ``read(_:deadline:_:)`` does, but accepts a body that
  /// throws any error: the compiler does not infer typed throws for a closure inside `#expect`.
  package func snapshot<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
  ) async throws -> Value {
    let result = try await read { snapshot throws(StoreError) in Result { try body(snapshot) } }
    return try result.get()
  }
}
