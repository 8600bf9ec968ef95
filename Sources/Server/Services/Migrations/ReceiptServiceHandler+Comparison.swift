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

  /// Compares a sample of the customers, in the order of their ids, with Apple: every `sample_every`-th, counted over
  /// all pages. Changes nothing.
  func compareWithApple(
    _ request: CompareWithAppleRequest, _ call: CallContext
  ) async throws(Status) -> CompareWithAppleResponse {
    let (app, environment) = try context.scope(of: request)
    let (page, size) = try context.page(of: request)
    let start = try SamplePosition(page.position)
    guard request.sampleEvery >= 0 else { throw .invalidField("sample_every", "sample_every is less than 0") }
    let customers = try await context.readExpensively(call) { reader throws(StoreError) in
      try reader.customers(of: app.id, in: environment, after: start.customerID, limit: size + 1)
    }
    let every = max(1, Int(request.sampleEvery))
    let chosen = customers.prefix(size).enumerated().filter { (start.number + $0.offset) % every == 0 }
    var response = try await drifts(of: chosen.map(\.element))
    if customers.count > size {
      let next = SamplePosition(
        number: (start.number + size) % every, customerID: customers[size - 1].key.customerID)
      response.nextPageToken = page.token(after: next.description)
    }
    CallScope.show(chosen.map(\.element.key.customerID), of: "comparison with Apple")
    return response
  }

  /// Compares customers with Apple, ``comparisonConcurrency`` at a time; the result is in the order of their ids.
  ///
  /// - Throws: the status of the first customer whose comparison failed.
  private func drifts(of customers: [CustomerRecord]) async throws(Status) -> CompareWithAppleResponse {
    typealias Outcome = (customer: CustomerRecord, drifts: Result<[AppleComparison.Mismatch]?, ReceiptError>)
    let comparison = AppleComparison(intake: context.intake.receipts)
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

/// The position of a page of a sample.
private struct SamplePosition: Hashable, CustomStringConvertible {
  /// The number of the page's first customer since one that belongs to the sample.
  let number: Int
  /// The last customer of the previous page; `nil` for the first page.
  let customerID: String?

  init(number: Int, customerID: String?) {
    self.number = number
    self.customerID = customerID
  }

  /// The position that ``description`` returned; `nil` begins.
  init(_ text: String?) throws(Status) {
    guard let text else {
      self.init(number: 0, customerID: nil)
      return
    }
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let number = Int(parts[0]) else { throw .invalidPageToken }
    self.init(number: number, customerID: String(parts[1]))
  }

  var description: String { "\(number) \(customerID ?? "")" }
}
