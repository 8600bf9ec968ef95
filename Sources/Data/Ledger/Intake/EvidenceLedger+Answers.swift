package import AppStore
internal import Store

/// What came of one of several submissions that were taken in together. All of it is durable.
package struct BatchedSubmissionResult: Sendable {
  /// The same was submitted before; nothing changed.
  package let isDuplicate: Bool
  /// Whose the purchase is; `nil` while nobody has claimed it.
  package let customerID: String?
  /// What the signed transaction says, if there was one.
  package let transaction: JWSTransactionDecodedPayload?
}

// What Apple answers when it is asked: many documents, mostly about one customer.
extension EvidenceLedger {
  /// Takes in all that one answer holds, as ``submit(_:)`` does one by one, but in one commit and with one look at
  /// each customer. When this returns it is durable.
  ///
  /// - Returns: what came of each, in their order. That one is not believed, or belongs to another customer, leaves
  ///   the others as they are.
  /// - Throws: ``LedgerError/store(_:)``.
  package func submitBatch(
    _ submissions: [Submission]
  ) async throws(LedgerError) -> [Result<BatchedSubmissionResult, LedgerError>] {
    var entries: [Result<SubmissionWrite, LedgerError>] = []
    for submission in submissions { entries.append(await entry(submission)) }
    let believed = entries.compactMap { try? $0.get() }
    var outcomes = try await record(believed)[...]
    return entries.map { entry in entry.flatMap { $0.answer(outcomes.removeFirst()) } }
  }

  /// What came of each, in their order.
  private func record(
    _ entries: [SubmissionWrite]
  ) async throws(LedgerError) -> [SubmissionWrite.Outcome] {
    guard !entries.isEmpty else { return [] }
    let (catalog, now) = (catalog.value, now())
    return try await write { store throws(StoreError) in
      let derivation = Derivation(store, catalog: catalog, now: now)
      let taken = try entries.map { entry throws(StoreError) in (entry, try entry.take(into: derivation)) }
      try derivation.finish()
      return try taken.map { entry, taken throws(StoreError) in try entry.outcome(of: taken, in: store) }
    }
  }

  private func entry(_ submission: Submission) async -> Result<SubmissionWrite, LedgerError> {
    do throws(LedgerError) { return .success(try await verified(submission)) } catch {
      return .failure(error)
    }
  }
}

extension SubmissionWrite {
  fileprivate func answer(_ outcome: Outcome) -> Result<BatchedSubmissionResult, LedgerError> {
    guard !outcome.belongsToAnotherCustomer else { return .failure(ownedByAnother) }
    return .success(
      BatchedSubmissionResult(
        isDuplicate: outcome.isDuplicate, customerID: outcome.customerID,
        transaction: verified.contents.transactionPayload))
  }
}
