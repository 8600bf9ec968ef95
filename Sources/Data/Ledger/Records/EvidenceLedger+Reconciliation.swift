package import AppStore
package import Store

// Results of comparisons with Apple's reports. They are no evidence: no answer depends on them.
extension EvidenceLedger {
  /// Appends results of reports and days.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func record(
    _ results: [ReconciledDay], of appID: String, in environment: Environment
  ) async throws(LedgerError) {
    try await write { store throws(StoreError) in
      for result in results { try store.append(result, of: appID, in: environment) }
    }
  }
}
