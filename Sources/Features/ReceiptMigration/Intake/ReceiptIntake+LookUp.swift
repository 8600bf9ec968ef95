internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import Platform
internal import Store

// Looks up the purchases of a receipt and commits both.
extension ReceiptIntake {
  /// Looks up the lines of a receipt and commits everything at once. `alongside` writes in the same commit.
  ///
  /// If the submission shares locks with others, its lines are locked until the commit, so that two receipts of one
  /// Apple account cost one lookup.
  func lookUp(
    _ classified: ClassifiedReceipt, _ incoming: IncomingReceipt, of app: AppDefinition,
    _ policy: ReceiptPolicy,
    _ alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void
  ) async throws(ReceiptError) -> ReceiptOutcome {
    guard let locks = incoming.lineLocks else {
      return try await lookUpLocked(classified, incoming, of: app, policy, alongside)
    }
    await locks.lock(classified.lines)
    let result: Result<ReceiptOutcome, ReceiptError>
    do throws(ReceiptError) {
      result = .success(try await lookUpLocked(classified, incoming, of: app, policy, alongside))
    } catch {
      result = .failure(error)
    }
    await locks.unlock(classified.lines)
    return try result.get()
  }

  /// Looks up the lines, in further environments while the purchase may be there, and commits the result.
  ///
  /// - Throws: the errors of ``submit(_:alongside:)``. Of several environments, an error of the first one that refused
  ///   is thrown if a later one does not have the id either: the purchase may be in the first.
  private func lookUpLocked(
    _ classified: ClassifiedReceipt, _ incoming: IncomingReceipt, of app: AppDefinition,
    _ policy: ReceiptPolicy,
    _ alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void
  ) async throws(ReceiptError) -> ReceiptOutcome {
    var classified = classified
    var (lines, history) = try await search(classified, incoming, of: app)
    var refusal: LookupError?
    while history.mayBeElsewhere, let next = classified.inNextEnvironment {
      refusal = refusal ?? history.failure
      classified = next
      (lines, history) = try await search(classified, incoming, of: app)
    }
    if let refusal, !history.unknownLines.isEmpty { throw .lookupFailed(refusal) }
    guard !Task.isCancelled else { throw .cancelled }
    var submission = try submission(classified, incoming, history, policy)
    submission.wasQueriedBefore = !classified.lines.isEmpty && lines.isEmpty
    let result: ReceiptResult
    do throws(LedgerError) {
      result = try await ledger.submit(submission, alongside: alongside)
    } catch {
      throw .ledger(error)
    }
    if result.belongsToAnotherCustomer {
      throw .rejected(
        .ownedByAnotherCustomer(originalTransactionIDs: result.linesOfOtherCustomers),
        evidence: result.evidenceID)
    }
    return outcome(classified, history, result)
  }

  /// Looks up the lines of a receipt that were not looked up since `incoming.queriedSince`, in its environment.
  private func search(
    _ classified: ClassifiedReceipt, _ incoming: IncomingReceipt, of app: AppDefinition
  ) async throws(ReceiptError) -> (lines: [String], history: PurchaseHistory) {
    let lines = try await linesToLookUp(classified, incoming)
    var request = PurchaseLookup.Request(
      appID: app.id, environment: classified.environment, transactionID: "")
    if case .verified = classified { request.customerID = incoming.customerID }
    request.priority = incoming.priority
    // The App Store has no purchases of Xcode.
    let history = await PurchaseHistory(
      of: classified.environment == .xcode ? [] : lines, through: lookup, request, by: incoming.deadline)
    return (lines, history)
  }

  /// Returns the lines that were not looked up since `incoming.queriedSince`.
  private func linesToLookUp(
    _ classified: ClassifiedReceipt, _ incoming: IncomingReceipt
  ) async throws(ReceiptError) -> [String] {
    let (lines, environment, appID) = (classified.lines, classified.environment, incoming.appID)
    // Times of different clocks do not compare.
    guard let since = incoming.queriedSince,
      ledger.clocks[incoming.environments.first].domain == ledger.clocks[environment].domain
    else { return lines }
    do throws(LedgerError) {
      return try await ledger.lines(lines, of: appID, in: environment, notQueriedSince: since)
    } catch {
      throw .ledger(error)
    }
  }

  /// What to commit: Apple's documents; the receipt's own contents about the lines that were not looked up; and a
  /// refresh for each of them, so that ``RefreshWorker`` repeats the lookup.
  ///
  /// - Throws: for a transaction id alone, the error of its lookup, because there is nothing else to commit, and
  ///   ``ReceiptRejection/unknownToApple(_:)`` if it is to be linked and no document names it.
  private func submission(
    _ classified: ClassifiedReceipt, _ incoming: IncomingReceipt, _ history: PurchaseHistory,
    _ policy: ReceiptPolicy
  ) throws(ReceiptError) -> ReceiptSubmission {
    var submission = ReceiptSubmission(
      appID: incoming.appID, environment: classified.environment, customerID: incoming.customerID,
      source: incoming.source)
    submission.documents = history.documents
    submission.queriedLines = history.queriedLines.sorted()
    switch classified {
    case .verified(let receipt):
      submission.claimedLines = receipt.lines
      let isLookedUp = history.failure == nil && receipt.environment != .xcode
      let unsignedLines = isLookedUp ? Set(history.unknownLines) : Set(receipt.lines)
      submission.contents = receipt.contents(about: unsignedLines)
      if policy.keepsReceipts { submission.receipt = receipt.content }
      if let failure = history.failure {
        submission.refreshes = receipt.lines.filter { !history.queriedLines.contains($0) }
          .map { refresh($0, failure, incoming, receipt.environment) }
      }
    case .transactionID(let id, _, _):
      if let failure = history.failure { throw .lookupFailed(failure) }
      guard history.unknownLines.isEmpty else { throw .rejected(.unknownToApple(id), evidence: nil) }
      // Apple responds to the id of any transaction of the customer, and a purchase has the id of its first one.
      let line = history.queriedLines.isEmpty ? id : history.line(ofTransaction: id)
      if line != id { submission.queriedLines.removeAll { $0 == id } }
      if case .assignedByOperator(let actor) = incoming.binding {
        guard let line else { throw .rejected(.unknownToApple(id), evidence: nil) }
        submission.claimedLines = [line]
        submission.actor = actor
      } else {
        submission.customerID = nil
      }
    }
    return submission
  }

  /// A lookup to repeat after the time that the error demands.
  private func refresh(
    _ lineID: String, _ failure: LookupError, _ incoming: IncomingReceipt, _ environment: Environment
  ) -> PendingRefresh {
    PendingRefresh(
      line: LineKey(appID: incoming.appID, environment: environment, lineID: lineID),
      dueAt: ledger.clocks.now(in: environment).advanced(
        byMilliseconds: failure.retryAfter.wholeSeconds * 1_000), reason: failure.reason)
  }

  /// The result for the caller, with the problems of single lines.
  private func outcome(
    _ classified: ClassifiedReceipt, _ history: PurchaseHistory, _ result: ReceiptResult
  ) -> ReceiptOutcome {
    var kind = ReceiptOutcome.Kind.appReceipt
    var version: String?
    switch classified {
    case .verified(let receipt):
      if receipt.environment == .xcode { kind = .xcodeReceipt }
      version = receipt.appInstall?.originalApplicationVersion
    case .transactionID(_, _, let origin): kind = origin
    }
    let problems =
      history.unknownLines.map {
        ReceiptOutcome.Problem(
          originalTransactionID: $0, reason: "UNKNOWN_TO_APPLE",
          explanation: ReceiptRejection.unknownToApple($0).description)
      }
      + result.linesOfOtherCustomers.map {
        ReceiptOutcome.Problem(
          originalTransactionID: $0, reason: "OWNED_BY_ANOTHER_CUSTOMER",
          explanation: ReceiptRejection.ownedByAnotherCustomer(originalTransactionIDs: [$0]).description)
      }
      + classified.zeroProblems
      + result.rejected.map {
        ReceiptOutcome.Problem(originalTransactionID: "", reason: $0.reason, explanation: $0.description)
      }
    return ReceiptOutcome(
      kind: kind, environment: classified.environment, lines: classified.lines, result: result,
      originalApplicationVersion: version, lookupFailure: history.failure, problems: problems)
  }
}

extension ClassifiedReceipt {
  /// The problem of purchases with the id 0 among others.
  fileprivate var zeroProblems: [ReceiptOutcome.Problem] {
    guard case .verified(let receipt) = self, receipt.hasZeros else { return [] }
    let rejection = ReceiptRejection.transactionIDZero
    return [.init(originalTransactionID: "0", reason: rejection.reason, explanation: rejection.description)]
  }
}
