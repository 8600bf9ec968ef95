internal import AppStore
internal import AppStoreClient
internal import Entitlements
internal import Ledger
internal import RPC
internal import ReceiptMigration
internal import Store
internal import Wire

// Comparison of stored purchases with Apple's.
extension ReceiptServiceHandler {
  /// The maximum number of customers whose purchases are fetched from Apple at a time.
  private static let comparisonConcurrency = 8

  func compareWithApple(
    _ request: CompareWithAppleRequest, _ call: CallContext
  ) async throws(Status) -> CompareWithAppleResponse {
    let app = try context.catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    let size = try RequestValidation.pageSize(request.pageSize)
    let page = try context.pageTokens.page(request)
    let customers = try await context.read { reader throws(StoreError) in
      try reader.customers(of: app.id, in: environment, after: page.position, limit: size + 1)
    }
    let every = max(1, Int(request.sampleEvery))
    let chosen = customers.prefix(size).enumerated().filter { $0.offset % every == 0 }.map(\.element)
    var response = try await drifts(of: chosen)
    if customers.count > size {
      response.nextPageToken = page.token(after: customers[size - 1].key.customerID)
    }
    return response
  }

  private func drifts(of customers: [CustomerRecord]) async throws(Status) -> CompareWithAppleResponse {
    typealias Outcome = (customer: CustomerRecord, drifts: Result<[AppleComparison.Mismatch]?, ReceiptError>)
    let comparison = AppleComparison(intake: context.receiptIntake)
    let outcomes = await withTaskGroup(of: Outcome.self) { group in
      var outcomes: [Outcome] = []
      for (index, customer) in customers.enumerated() {
        if index >= Self.comparisonConcurrency, let outcome = await group.next() { outcomes.append(outcome) }
        group.addTask {
          do throws(ReceiptError) {
            return (customer, .success(try await comparison.mismatches(of: customer)))
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
