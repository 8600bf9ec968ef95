internal import AppStore
internal import AppStoreClient
package import AppleLookup
internal import Entitlements
internal import FamilySharing
internal import JSON
package import Ledger
internal import Logging
package import Platform
package import Store

/// Answers Apple's questions about purchases whose customers want the money back, as the operator's policy says and
/// only where the customer agreed, until Apple's time is over.
package struct ConsumptionRequestWorker: Worker {
  package let name = "consumption_requests"

  private static let batchSize = 20
  private static let minute: Int64 = 60_000
  /// How often is looked whether what was missing is there: consent, a customer, another policy.
  private static let maxPause = 15 * minute
  /// How long one answer may take.
  private static let timeout = Duration.seconds(30)

  private let store: any EntitlementStore
  private let ledger: EvidenceLedger
  private let lookup: PurchaseLookup
  private let catalog: CurrentCatalog
  private let clock: ServiceClock
  private let logger = Logger(label: "entitled.consumption")

  /// A worker for the consumption requests in `store`.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, lookup: PurchaseLookup, catalog: CurrentCatalog,
    clock: ServiceClock
  ) {
    self.store = store
    self.ledger = ledger
    self.lookup = lookup
    self.catalog = catalog
    self.clock = clock
  }

  /// Goes on until the task is cancelled.
  package func run() async throws {
    let gauge = OpenConsumptionRequestGauge(catalog: catalog)
    let worker = DueWorker(
      store: store, clock: clock,
      nextDue: { reader throws(StoreError) in
        let next = try reader.nextInquiry()
        gauge.record(next == nil ? [] : try reader.openInquiries())
        return next
      },
      process: { () async throws(LedgerError) in
        for due in try await ledger.dueConsumptionRequests(limit: Self.batchSize) where !Task.isCancelled {
          try await look(at: due)
        }
      })
    try await worker.run()
  }

  /// What comes of a request now.
  private enum Decision {
    case answer(ConsumptionRequest, AppStoreServerClient)
    /// Somebody or something is missing; the code says who or what.
    case wait(String)
    /// Apple would refuse.
    case refuse(String)
  }

  private func look(at due: DueConsumptionRequest) async throws(LedgerError) {
    var inquiry = due.request
    guard clock.now() < inquiry.answerBy else {
      inquiry.settle(
        .missed, problem: inquiry.problem.isEmpty ? "DEADLINE_PASSED" : inquiry.problem, at: clock.now())
      logger.notice(
        "consumption request missed",
        metadata: ["app": "\(inquiry.line.appID)", "reason": "\(inquiry.problem)"])
      return try await ledger.update(inquiry, ifUnchanged: due)
    }
    switch decision(about: due) {
    case .wait(let problem): try await wait(due, for: problem)
    case .refuse(let problem):
      inquiry.settle(.refused, problem: problem, at: clock.now())
      try await ledger.update(inquiry, ifUnchanged: due)
    case .answer(let information, let client): try await send(information, about: due, client)
    }
  }

  private func decision(about due: DueConsumptionRequest) -> Decision {
    let inquiry = due.request
    guard let app = catalog.value[inquiry.line.appID] else { return .wait("UNKNOWN_APP") }
    if let purchase = due.purchase, DisallowedCall(.sendConsumptionInformation, about: purchase) != nil {
      return .refuse("NOT_THE_PURCHASER")
    }
    let reason = inquiry.reason.isEmpty ? nil : ConsumptionRequestReason(rawValue: inquiry.reason)
    guard case .automatic(let terms) = app.consumptionPolicy.answer(to: reason) else {
      return .wait("MANUAL")
    }
    guard !due.owners.isEmpty else { return .wait("NO_CUSTOMER") }
    guard due.isConsented else { return .wait("NO_CONSENT") }
    let client: AppStoreServerClient
    do throws(LookupError) {
      client = try lookup.client(for: app.id, in: inquiry.line.environment)
    } catch {
      return .wait("NO_IN_APP_PURCHASE_KEY")
    }
    let product = app.products[due.purchase?.productID ?? inquiry.productID]
    return .answer(terms.information(about: due.purchase, product, at: inquiry.requestedAt), client)
  }

  /// Tells Apple. That it was told is written with what it was told; killed in between, it is told again, which
  /// Apple allows.
  private func send(
    _ information: ConsumptionRequest, about due: DueConsumptionRequest, _ client: AppStoreServerClient
  ) async throws(LedgerError) {
    var inquiry = due.request
    var call = AppleCall(
      method: AppleCall.sendConsumptionInformation,
      originalTransactionID: inquiry.line.originalTransactionID, transactionID: inquiry.transactionID,
      request: information.json, answer: [:])
    do throws(AppStoreClientError) {
      try await client.send(
        .sendConsumptionInformation(information, of: inquiry.transactionID), priority: .repair,
        timeout: Self.timeout)
    } catch {
      if case .refused(let code, let message) = error, error.retryAfter == nil {
        call.answer = AppleCall.refusal(code, message: message)
        try await record(call, about: inquiry)
        inquiry.settle(.refused, problem: error.pendingReason, at: clock.now())
        return try await ledger.update(inquiry, ifUnchanged: due)
      }
      guard error != .cancelled else { return }
      return try await wait(
        due, for: error.pendingReason, attempts: inquiry.attempts + 1,
        atLeast: error.retryAfter?.wholeSeconds ?? 0)
    }
    try await record(call, about: inquiry)
  }

  private func record(_ call: AppleCall, about inquiry: ConsumptionRequestRecord) async throws(LedgerError) {
    try await ledger.record(
      call,
      CommandScope(appID: inquiry.line.appID, environment: inquiry.line.environment, actor: "policy"))
  }

  /// Looks again later; the more often it was in vain, the later. In any case when Apple's time is over.
  private func wait(
    _ due: DueConsumptionRequest, for problem: String, attempts: Int? = nil, atLeast seconds: Int64 = 0
  ) async throws(LedgerError) {
    var inquiry = due.request
    inquiry.problem = problem
    if let attempts { inquiry.attempts = attempts }
    let backoff = inquiry.attempts == 0 ? Self.maxPause : 5_000 << min(Int64(inquiry.attempts), 12)
    let pause = max(seconds * 1_000, min(backoff, Self.maxPause))
    inquiry.dueAt = min(clock.now().advanced(byMilliseconds: pause), inquiry.answerBy)
    try await ledger.update(inquiry, ifUnchanged: due)
  }
}
