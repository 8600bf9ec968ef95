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
    _ examined: ExaminedReceipt, _ incoming: IncomingReceipt, of app: AppDefinition, _ policy: ReceiptPolicy,
    _ alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void
  ) async throws(ReceiptError) -> ReceiptOutcome {
    guard let inWork = incoming.linesInWork else {
      return try await lookUpAlone(examined, incoming, of: app, policy, alongside)
    }
    await inWork.take(examined.lines)
    let result: Result<ReceiptOutcome, ReceiptError>
    do throws(ReceiptError) {
      result = .success(try await lookUpAlone(examined, incoming, of: app, policy, alongside))
    } catch {
      result = .failure(error)
    }
    await inWork.giveBack(examined.lines)
    return try result.get()
  }

  private func lookUpAlone(
    _ examined: ExaminedReceipt, _ incoming: IncomingReceipt, of app: AppDefinition, _ policy: ReceiptPolicy,
    _ alongside: @escaping @Sendable (any StoreTransaction, ReceiptResult) throws(StoreError) -> Void
  ) async throws(ReceiptError) -> ReceiptOutcome {
    let lines = try await linesToAsk(examined, incoming)
    var question = PurchaseLookup.Request(
      appID: app.id, environment: examined.environment, transactionID: "")
    if case .genuine = examined { question.customerID = incoming.customerID }
    question.priority = incoming.priority
    question.patience = incoming.patience
    // Nobody but Xcode knows of its purchases.
    let history = await PurchaseHistory(
      of: examined.environment == .xcode ? [] : lines, through: enquiry, question)
    guard !Task.isCancelled else {
      throw .unavailable(reason: "CANCELLED", explanation: "it was given up", retryAfter: .zero)
    }
    var submission = try submission(examined, incoming, history, policy)
    submission.wasQueriedBefore = !examined.lines.isEmpty && lines.isEmpty
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
    return outcome(examined, history, taken)
  }

  /// Those about which Apple was not asked lately.
  private func linesToAsk(
    _ examined: ExaminedReceipt, _ incoming: IncomingReceipt
  ) async throws(ReceiptError) -> [String] {
    guard let since = incoming.askedSince else { return examined.lines }
    let (lines, environment, appID) = (examined.lines, examined.environment, incoming.appID)
    do throws(LedgerError) {
      return try await ledger.lines(lines, of: appID, in: environment, notQueriedSince: since)
    } catch {
      throw .ledger(error)
    }
  }

  private func submission(
    _ examined: ExaminedReceipt, _ incoming: IncomingReceipt, _ history: PurchaseHistory,
    _ policy: ReceiptPolicy
  ) throws(ReceiptError) -> ReceiptSubmission {
    var submission = ReceiptSubmission(
      appID: incoming.appID, environment: examined.environment, customerID: incoming.customerID,
      source: incoming.source)
    submission.documents = history.documents
    submission.queriedLines = history.queriedLines.sorted()
    switch examined {
    case .genuine(let receipt):
      submission.claimedLines = receipt.lines
      let isAsked = history.failure == nil && receipt.environment != .xcode
      let told = isAsked ? Set(history.unknownLines) : Set(receipt.lines)
      submission.statement = receipt.statement(about: told)
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
    _ examined: ExaminedReceipt, _ history: PurchaseHistory, _ taken: ReceiptResult
  ) -> ReceiptOutcome {
    var kind = ReceiptOutcome.Kind.appReceipt
    var version: String?
    switch examined {
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
      kind: kind, environment: examined.environment, lines: examined.lines, taken: taken,
      originalApplicationVersion: version, pendingReason: history.failure?.reason, problems: problems)
  }
}
