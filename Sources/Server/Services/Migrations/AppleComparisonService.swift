internal import AppStore
internal import AppStoreClient
internal import Entitlements
internal import Ledger
internal import RPC
internal import ReceiptMigration
internal import Store
internal import Wire

/// `CompareWithApple` of `entitled.v1.ReceiptService`: is what we know what Apple says?
struct AppleComparisonService: Sendable {
  private let comparison: AppleComparison
  private let store: any EntitlementStore
  private let catalog: CurrentCatalog

  init(intake: ReceiptIntake, store: any EntitlementStore, catalog: CurrentCatalog) {
    comparison = AppleComparison(intake: intake)
    self.store = store
    self.catalog = catalog
  }

  private static let usualPage = 100
  private static let largestPage = 1_000
  private static let atATime = 8

  var methods: [Method] {
    [
      .waitingUnary("/\(ReceiptService.name)/CompareWithApple") {
        (request: CompareWithAppleRequest, _) async throws(Status) in
        try await compare(request)
      }
    ]
  }

  private func compare(_ request: CompareWithAppleRequest) async throws(Status) -> CompareWithAppleResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    let wanted = Int(request.pageSize)
    let size = wanted <= 0 ? Self.usualPage : min(wanted, Self.largestPage)
    let page: [CustomerRecord]
    do throws(StoreError) {
      let reader = try store.makeReader()
      defer { reader.endTurn() }
      page = try reader.customers(
        of: app.id, in: environment, after: request.pageToken.given, limit: size + 1)
    } catch {
      throw Status(error)
    }
    let every = max(1, Int(request.sampleEvery))
    let chosen = page.prefix(size).enumerated().filter { $0.offset % every == 0 }.map(\.element)
    var response = try await drifts(of: chosen)
    if page.count > size { response.nextPageToken = page[size - 1].key.customerID }
    return response
  }

  private func drifts(of customers: [CustomerRecord]) async throws(Status) -> CompareWithAppleResponse {
    typealias Outcome = (customer: CustomerRecord, drifts: Result<[AppleComparison.Mismatch]?, ReceiptError>)
    let outcomes = await withTaskGroup(of: Outcome.self) { group in
      var outcomes: [Outcome] = []
      for (place, customer) in customers.enumerated() {
        if place >= Self.atATime, let outcome = await group.next() { outcomes.append(outcome) }
        group.addTask {
          do throws(ReceiptError) {
            return (customer, .success(try await comparison.drifts(of: customer)))
          } catch {
            return (customer, .failure(error))
          }
        }
      }
      for await outcome in group { outcomes.append(outcome) }
      return outcomes.sorted { $0.customer.key.customerID < $1.customer.key.customerID }
    }
    var response = CompareWithAppleResponse()
    for (customer, outcome) in outcomes {
      do throws(ReceiptError) {
        guard let drifts = try outcome.get() else {
          response.notCompared += 1
          continue
        }
        response.compared += 1
        response.drifts += drifts.map { drift in
          .with {
            $0.customerId = customer.key.customerID
            $0.originalTransactionId = drift.originalTransactionID
            $0.transactionId = drift.transactionID
            $0.reason = drift.reason.rawValue
          }
        }
      } catch {
        throw Status(error)
      }
    }
    return response
  }
}
