internal import AppStore
internal import AppStoreClient
package import AppleLookup
internal import Entitlements
internal import FamilySharing
internal import JSON
package import Ledger
internal import Logging
internal import Platform
package import Store

/// Answers Apple's consumption requests as the operator's policy demands, if the customer has consented, before Apple's
/// deadline.
///
/// A request for which something is missing, such as the consent, is checked again at least every 15 minutes. One that
/// is open at the deadline ends as missed, with the last problem as its reason.
package struct ConsumptionRequestWorker: Worker {
  package let name: String

  private static let batchSize = 20
  private static let minute: Int64 = 60_000
  /// The interval of checks for a missing consent, customer or policy.
  private static let maxPause = 15 * minute
  /// The longest pause that Apple demands: the client shortens a longer one.
  private static let maxRetryAfter = 60 * minute
  /// How long before Apple's deadline the last regular check is: enough for a call and its repetition.
  private static let margin = 2 * minute
  /// The timeout of a call.
  private static let timeout = Duration.seconds(30)

  private let store: any EntitlementStore
  private let ledger: EvidenceLedger
  private let lookup: PurchaseLookup
  private let catalog: CurrentCatalog
  private let clock: ServiceClock
  private let logger = Logger(label: "entitled.consumption")

  /// Creates a worker for the requests in `store`.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, lookup: PurchaseLookup, catalog: CurrentCatalog,
    clock: ServiceClock
  ) {
    self.store = store
    self.ledger = ledger
    self.lookup = lookup
    self.catalog = catalog
    self.clock = clock
    name = clock.name(ofWorker: "consumption_requests")
  }

  /// Runs until the task is cancelled, and handles 20 requests at a time.
  ///
  /// - Throws: the first ``LedgerError``; the supervisor starts it again.
  package func run() async throws {
    let worker = DueWorker(
      name: name, store: store, clock: clock,
      nextDue: { reader throws(StoreError) in try reader.nextConsumptionRequest(in: clock.domain) },
      process: { () async throws(LedgerError) in
        for due in try await ledger.dueConsumptionRequests(by: clock, limit: Self.batchSize)
        where !Task.isCancelled {
          try await process(due)
        }
      },
      correctTimes: { () async throws(LedgerError) in
        try await ledger.reopenConsumptionRequests(by: clock, maxPause: Self.maxRetryAfter)
      })
    try await worker.run()
  }

  /// The result of looking at the policy and the purchase, before any call.
  private enum Decision {
    /// The policy has an answer, and the client can send it.
    case answer(ConsumptionRequest, AppStoreServerClient)
    /// A precondition is missing that may come before the deadline; the reason code names it. `MANUAL`: the operator
    /// answers.
    case wait(String)
    /// Apple would reject any answer, so the request is settled; the reason code says why.
    case refuse(String)
  }

  /// Settles a request that is due: missed after Apple's deadline, otherwise refused, answered, or due again later.
  private func process(_ due: DueConsumptionRequest) async throws(LedgerError) {
    var record = due.request
    guard clock.now() < record.answerBy else {
      record.settle(
        .missed, error: record.error.isEmpty ? "DEADLINE_PASSED" : record.error, at: clock.now())
      logger.notice(
        "consumption request missed",
        metadata: ["app": "\(record.line.appID)", "reason": "\(record.error)"])
      return try await ledger.update(record, ifUnchanged: due)
    }
    switch decision(about: due) {
    case .wait(let problem): try await wait(due, for: problem)
    case .refuse(let problem):
      record.settle(.refused, error: problem, at: clock.now())
      try await ledger.update(record, ifUnchanged: due)
    case .answer(let information, let client): try await send(information, about: due, client)
    }
  }

  /// Decides by the app's policy and the purchase, without a call to Apple.
  private func decision(about due: DueConsumptionRequest) -> Decision {
    let record = due.request
    guard let app = catalog.value[record.line.appID] else { return .wait("UNKNOWN_APP") }
    if let purchase = due.purchase, DisallowedCall(.sendConsumptionInformation, about: purchase) != nil {
      return .refuse("NOT_THE_PURCHASER")
    }
    // Apple accepts only version 1 for these, which states more than the policy does (Send Consumption Information V1).
    if due.purchase?.details.isAdvancedCommerce == true { return .wait("MANUAL") }
    let reason = record.reason.isEmpty ? nil : ConsumptionRequestReason(rawValue: record.reason)
    guard case .automatic(let terms) = app.consumptionPolicy.answer(to: reason) else {
      return .wait("MANUAL")
    }
    guard !due.owners.isEmpty else { return .wait("NO_CUSTOMER") }
    guard due.isConsented else { return .wait("NO_CONSENT") }
    let client: AppStoreServerClient
    do throws(LookupError) {
      client = try lookup.client(for: app.id, in: record.line.environment)
    } catch {
      return .wait("NO_IN_APP_PURCHASE_KEY")
    }
    let product = app.products[due.purchase?.productID ?? record.productID]
    let start = due.purchase.flatMap { due.stacked.start(ofNonRenewing: $0, in: app) }
    return .answer(
      terms.information(about: due.purchase, product, from: start, at: record.requestedAt), client)
  }

  /// Sends the answer, then records it. After a crash in between it is sent again, which Apple allows. A refusal
  /// without a time to retry settles the request as refused; any other error schedules the next attempt.
  private func send(
    _ information: ConsumptionRequest, about due: DueConsumptionRequest, _ client: AppStoreServerClient
  ) async throws(LedgerError) {
    var record = due.request
    var call = AppleCall(
      method: AppleCall.sendConsumptionInformation,
      originalTransactionID: record.line.lineID, transactionID: record.transactionID,
      request: information.json, answer: [:])
    do throws(AppStoreClientError) {
      try await client.send(
        .sendConsumptionInformation(information, of: record.transactionID), priority: .repair,
        timeout: Self.timeout)
    } catch {
      if case .refused(let code, let message) = error, error.retryAfter == nil {
        call.answer = AppleCall.refusal(code, message: message)
        try await recordCall(call, about: record)
        record.settle(.refused, error: error.pendingReason, at: clock.now())
        return try await ledger.update(record, ifUnchanged: due)
      }
      guard error != .cancelled else { return }
      return try await wait(
        due, for: error.pendingReason, attempts: record.attempts + 1,
        atLeast: error.retryAfter?.wholeSeconds ?? 0)
    }
    try await recordCall(call, about: record)
  }

  /// Stores the call and its result as evidence, with the policy as the actor. For an accepted answer, this also
  /// settles the request.
  private func recordCall(_ call: AppleCall, about record: ConsumptionRequestRecord) async throws(LedgerError)
  {
    try await ledger.record(
      call,
      CommandScope(appID: record.line.appID, environment: record.line.environment, actor: "policy"))
  }

  /// Schedules the next check: every 15 minutes, or after failed calls with exponential backoff from ten seconds to 15
  /// minutes, but not before the time that Apple demands. The deadline ends the request, so one check is just before it.
  private func wait(
    _ due: DueConsumptionRequest, for problem: String, attempts: Int? = nil, atLeast seconds: Int64 = 0
  ) async throws(LedgerError) {
    var record = due.request
    record.error = problem
    if let attempts { record.attempts = attempts }
    let backoff = record.attempts == 0 ? Self.maxPause : 5_000 << min(Int64(record.attempts), 12)
    let now = clock.now()
    let earliest = now.advanced(byMilliseconds: seconds * 1_000)
    let next = max(earliest, now.advanced(byMilliseconds: min(backoff, Self.maxPause)))
    let lastCheck = max(earliest, record.answerBy.advanced(byMilliseconds: -Self.margin))
    record.dueAt = min(next, now < lastCheck ? lastCheck : next, record.answerBy)
    try await ledger.update(record, ifUnchanged: due)
  }
}
