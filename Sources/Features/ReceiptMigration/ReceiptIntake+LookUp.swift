internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
internal import Store

// What Apple says about a receipt, and what is kept of both.
extension ReceiptIntake {
  /// Asks Apple about the lines of a receipt and keeps everything in one commit.
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

  private func lookUpLocked(
    _ classified: ClassifiedReceipt, _ incoming: IncomingReceipt, of app: AppDefinition,
    _ policy: ReceiptPolicy,
    _ alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void
  ) async throws(ReceiptError) -> ReceiptOutcome {
    let lines = try await linesToAsk(classified, incoming)
    var question = PurchaseLookup.Request(
      appID: app.id, environment: classified.environment, transactionID: "")
    if case .genuine = classified { question.customerID = incoming.customerID }
    question.priority = incoming.priority
    question.timeout = incoming.timeout
    // Nobody but Xcode knows of its purchases.
    let history = await PurchaseHistory(
      of: classified.environment == .xcode ? [] : lines, through: lookup, question)
    guard !Task.isCancelled else {
      throw .unavailable(reason: "CANCELLED", explanation: "it was given up", retryAfter: .zero)
    }
    var submission = try submission(classified, incoming, history, policy)
    submission.wasQueriedBefore = !classified.lines.isEmpty && lines.isEmpty
    let taken: ReceiptResult
    do throws(LedgerError) {
      taken = try await ledger.submit(submission, alongside: alongside)
    } catch {
      throw .ledger(error)
    }
    if taken.belongsToAnotherCustomer {
      throw .refused(
        .ownedByAnotherCustomer(originalTransactionIDs: taken.linesOfOtherCustomers),
        evidence: taken.evidenceID)
    }
    return outcome(classified, history, taken)
  }

  /// Those about which Apple was not asked lately.
  private func linesToAsk(
    _ classified: ClassifiedReceipt, _ incoming: IncomingReceipt
  ) async throws(ReceiptError) -> [String] {
    guard let since = incoming.queriedSince else { return classified.lines }
    let (lines, environment, appID) = (classified.lines, classified.environment, incoming.appID)
    do throws(LedgerError) {
      return try await ledger.lines(lines, of: appID, in: environment, notQueriedSince: since)
    } catch {
      throw .ledger(error)
    }
  }

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
    case .genuine(let receipt):
      submission.claimedLines = receipt.lines
      let isAsked = history.failure == nil && receipt.environment != .xcode
      let told = isAsked ? Set(history.unknownLines) : Set(receipt.lines)
      submission.contents = receipt.statement(about: told)
      if policy.keepsReceipts { submission.receipt = receipt.content }
      if let failure = history.failure {
        submission.refreshes = receipt.lines.filter { !history.queriedLines.contains($0) }
          .map { refresh($0, failure, incoming, receipt.environment) }
      }
    case .number(let number, let environment, _):
      if let failure = history.failure {
        throw .unavailable(
          reason: failure.reason, explanation: failure.description, retryAfter: failure.retryAfter)
      }
      guard history.unknownLines.isEmpty else { throw .refused(.unknownToApple(number), evidence: nil) }
      if case .vouched(let actor) = incoming.binding {
        submission.claimedLines = [number]
        submission.actor = actor
      } else {
        submission.customerID = nil
      }
      submission.environment = environment
    }
    return submission
  }

  private func refresh(
    _ number: String, _ failure: LookupError, _ incoming: IncomingReceipt, _ environment: Environment
  ) -> PendingRefresh {
    PendingRefresh(
      line: LineKey(appID: incoming.appID, environment: environment, originalTransactionID: number),
      dueAt: now().advanced(byMilliseconds: failure.retryAfter.wholeSeconds * 1_000), reason: failure.reason)
  }

  private func outcome(
    _ classified: ClassifiedReceipt, _ history: PurchaseHistory, _ taken: ReceiptResult
  ) -> ReceiptOutcome {
    var kind = ReceiptOutcome.Kind.appReceipt
    var version: String?
    switch classified {
    case .genuine(let receipt):
      if receipt.environment == .xcode { kind = .xcodeReceipt }
      version = receipt.copy?.originalApplicationVersion
    case .number(_, _, let what): kind = what
    }
    let problems =
      history.unknownLines.map {
        ReceiptOutcome.Problem(
          originalTransactionID: $0, reason: "UNKNOWN_TO_APPLE",
          explanation: ReceiptRefusal.unknownToApple($0).description)
      }
      + taken.linesOfOtherCustomers.map {
        ReceiptOutcome.Problem(
          originalTransactionID: $0, reason: "OWNED_BY_ANOTHER_CUSTOMER",
          explanation: ReceiptRefusal.ownedByAnotherCustomer(originalTransactionIDs: [$0]).description)
      }
      + taken.rejected.map {
        ReceiptOutcome.Problem(originalTransactionID: "", reason: $0.reason, explanation: $0.description)
      }
    return ReceiptOutcome(
      kind: kind, environment: classified.environment, lines: classified.lines, taken: taken,
      originalApplicationVersion: version, pendingReason: history.failure?.reason, problems: problems)
  }
}
