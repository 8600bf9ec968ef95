internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import ReceiptMigration
internal import Store
internal import Wire

// Submission of the receipt on a device.
extension ReceiptServiceHandler {
  /// The maximum time for calls to Apple if the caller has no deadline; a person is waiting at a new device.
  private static let timeout = Duration.seconds(8)
  /// The part of the caller's timeout that is reserved for the response.
  private static let reserve = Duration.milliseconds(500)

  /// Submits a receipt, and looks its purchases up at Apple within the caller's timeout, at most 8 seconds. A lookup
  /// that does not end in time is repeated by a worker (`refresh_pending`). Without a receipt, the response is the
  /// stored state of the customer.
  ///
  /// - Throws: the reason of a rejected receipt, with the id of its evidence.
  func submitReceipt(
    _ request: SubmitReceiptRequest, _ call: CallContext
  ) async throws(Status) -> SubmitReceiptResponse {
    let app = try context.catalog.value.app(request.app)
    if !request.customerId.isEmpty { try RequestValidation.customerID(request.customerId) }
    guard let content = request.content else { return try await newCustomer(request.customerId, app) }
    var incoming = IncomingReceipt(appID: app.id, customerID: request.customerId.given, content: content)
    incoming.deviceIdentifier = request.deviceIdentifier
    // Calls to Apple that do not finish in time are repeated later; until then the receipt's contents count.
    let timeout = call.remainingTime.map { max(.milliseconds(1), $0 - Self.reserve) } ?? Self.timeout
    incoming.timeout = min(timeout, Self.timeout)
    do throws(ReceiptError) {
      let outcome = try await context.intake.receipts.submit(incoming)
      CallScope.show(outcome.result.customerID.map { [$0] } ?? [])
      return SubmitReceiptResponse(outcome, of: app, at: context.now(in: outcome.environment))
    } catch {
      throw Status(error)
    }
  }

  /// The response without a receipt: the stored state of the customer, which is usually empty.
  private func newCustomer(
    _ customerID: String, _ app: AppDefinition
  ) async throws(Status) -> SubmitReceiptResponse {
    let environment = app.environments.first ?? .production
    var response = SubmitReceiptResponse()
    response.environment = Wire.Environment(environment)
    response.customerId = customerID
    var facts = CustomerFacts()
    if !customerID.isEmpty {
      let key = CustomerKey(appID: app.id, environment: environment, customerID: customerID)
      do throws(LedgerError) { facts = try await context.intake.receipts.ledger.facts(of: key) } catch {
        throw Status(error)
      }
    }
    response.addState(facts, of: app, environment: environment, at: context.now(in: environment))
    return response
  }
}

extension SubmitReceiptRequest {
  /// The submitted receipt; `nil` if there is none.
  fileprivate var content: IncomingReceipt.Content? {
    switch receipt {
    case nil: nil
    case .receiptBase64(let text)?: text.isEmpty ? nil : .text(text)
    case .receiptBytes(let bytes)?: bytes.isEmpty ? nil : .receipt(bytes)
    }
  }
}

extension SubmitReceiptResponse {
  /// The response about a submitted receipt, with the customer's state after it.
  fileprivate init(_ outcome: ReceiptOutcome, of app: AppDefinition, at now: Instant) {
    self.init()
    evidenceId = outcome.result.evidenceID?.rawValue
    alreadyKnown = outcome.result.isDuplicate
    environment = Wire.Environment(outcome.environment)
    originalApplicationVersion = outcome.originalApplicationVersion ?? ""
    refreshPending = outcome.pendingReason != nil
    refreshReason = outcome.pendingReason ?? ""
    customerId = outcome.result.customerID ?? ""
    originalTransactionIds = outcome.lines
    problems = outcome.problems.map { problem in
      .with {
        $0.originalTransactionId = problem.originalTransactionID
        $0.reason = problem.reason
        $0.explanation = problem.explanation
      }
    }
    kind = Wire.DocumentKind(outcome.kind)
    addState(outcome.result.facts, of: app, environment: outcome.environment, at: now)
  }

  /// Adds the customer's transactions, entitlements and product states.
  fileprivate mutating func addState(
    _ facts: CustomerFacts, of app: AppDefinition, environment: AppStore.Environment, at now: Instant
  ) {
    transactions = facts.transactions.suffix(1_000).map {
      Wire.Transaction($0, of: app, environment: environment)
    }
    entitlements = app.entitlements.map { entitlement in
      Entitlement(
        evaluate(facts, entitlement: entitlement, in: app, at: now), of: entitlement, in: app, at: now)
    }
    productStates = CustomerOverview(facts, in: app, at: now).products.map { product in
      .with {
        $0.productId = product.productID
        $0.state = Wire.ProductState(product.state)
      }
    }
  }
}

extension Wire.DocumentKind {
  fileprivate init(_ kind: ReceiptOutcome.Kind) {
    switch kind {
    case .appReceipt: self = .appReceipt
    case .xcodeReceipt: self = .xcodeReceipt
    case .transactionReceipt: self = .transactionReceipt
    case .originalTransactionID: self = .unspecified
    }
  }
}
