internal import AppStore
internal import Entitlements
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.EntitlementService`: what other services ask about a customer.
///
/// A handler reads its request, asks the store and the rules one question, and writes the answer. There
/// is one instance for each event loop, since its reader belongs to one.
struct EntitlementService {
  private let reader: any StoreReader
  private let catalog: CurrentCatalog
  private let now: @Sendable () -> Instant

  init(reader: any StoreReader, catalog: CurrentCatalog, now: @escaping @Sendable () -> Instant) {
    self.reader = reader
    self.catalog = catalog
    self.now = now
  }

  static let name = "entitled.v1.EntitlementService"

  var methods: [Method] {
    [
      .unary("/\(Self.name)/Check") { (request: CheckRequest, _) throws(Status) in try check(request) },
      .unary("/\(Self.name)/BatchCheck") { (request: BatchCheckRequest, _) throws(Status) in
        try batchCheck(request)
      },
    ]
  }

  private func check(_ request: CheckRequest) throws(Status) -> CheckResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try Requirement.customerID(request.customerId)
    try Requirement.entitlement(request.entitlement, of: app)
    let key = CustomerKey(appID: app.id, environment: environment, customerID: request.customerId)
    let now = now()
    let status: EntitlementStatus
    do throws(StoreError) {
      status = try answer(to: request.entitlement, of: key, in: app, at: now)
    } catch {
      throw Status(error)
    }
    return CheckResponse(
      status, of: request.entitlement, in: app, environment: environment, evaluatedAt: now)
  }

  /// The answer that was worked out when the facts were written, or else what the rules make of them now.
  private func answer(
    to entitlement: String, of key: CustomerKey, in app: AppDefinition, at now: Instant
  ) throws(StoreError) -> EntitlementStatus {
    let facts: CustomerFacts?
    switch try reader.answer(to: entitlement, of: key, under: app.fingerprint, at: now) {
    case .status(let status): return status
    case .unknownCustomer: facts = nil
    case .notTold: facts = try reader.facts(of: key)
    }
    return evaluate(facts ?? CustomerFacts(), entitlement: entitlement, in: app, at: now)
  }

  private func batchCheck(_ request: BatchCheckRequest) throws(Status) -> BatchCheckResponse {
    guard request.checks.count <= Self.batchLimit else {
      throw Status(
        .invalidArgument, reason: "TOO_MANY_CHECKS",
        "a batch takes at most \(Self.batchLimit) checks, this one has \(request.checks.count)",
        field: "checks")
    }
    return .with { response in
      response.results = request.checks.map { request in
        .with { result in
          do throws(Status) {
            result.outcome = .response(try check(request))
          } catch {
            result.outcome = .error(GoogleRPC.Status(error))
          }
        }
      }
    }
  }

  private static let batchLimit = 1_000
}
