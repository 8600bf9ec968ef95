import AppStore
import AppStoreClient
import AppStoreSupport
import AppleLookup
import Entitlements
import Foundation
import Ledger
import Store
import Testing

@testable import Sandbox

@Suite("Purchase lookup") struct PurchaseLookupTests {
  private static let history = "/inApps/v2/history/"
  private static let statuses = "/inApps/v1/subscriptions/"

  private func run(_ body: (SimulatedAppStore) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lookup-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let service = try SimulatedAppStore.demo(
      selling: [SandboxProduct(productId: "unlock", type: .nonConsumable, price: 9990)], folder: folder)
    try await body(service)
    await service.store.close()
  }

  private func buy(_ product: String, _ service: SimulatedAppStore) async throws -> PurchaseLookup.Request {
    let bought = try await service.simulator.purchase(
      PurchaseOrder(app: "demo", productId: product, account: "a"))
    return request(bought.transactionId)
  }

  private func request(_ transactionID: String) -> PurchaseLookup.Request {
    PurchaseLookup.Request(appID: "demo", environment: .sandbox, transactionID: transactionID)
  }

  private func facts(_ id: String, _ service: SimulatedAppStore) async throws -> CustomerFacts {
    let line = LineKey(appID: "demo", environment: .sandbox, lineID: id)
    return try await service.store.read { snapshot throws(StoreError) in try snapshot.facts(of: line) }
  }

  @Test("A full lookup ingests the history and the statuses, and links them to the customer")
  func all() async throws {
    try await run { service in
      var request = try await buy("monthly", service)
      request.customerID = "ana"
      let result = try await service.lookup.fetchAll(request)
      // The history and the statuses both contain it.
      #expect(result.transactions.map(\.transactionId) == [request.transactionID])
      #expect(result.newDocuments > 0 && result.documentErrors.isEmpty)
      #expect(result.customerIDs == ["ana"])
      let id = request.transactionID
      #expect(service.exchange.paths == [Self.history + id, Self.statuses + id])
      let facts = try await facts(id, service)
      #expect(facts.transactions.count == 1 && facts.renewals.count == 1)
    }
  }

  @Test("A purchase of another customer is reported for its document only")
  func otherOwner() async throws {
    try await run { service in
      var request = try await buy("monthly", service)
      request.customerID = "ana"
      _ = try await service.lookup.fetchAll(request)
      request.customerID = "ben"
      let result = try await service.lookup.fetchAll(request)
      #expect(
        result.documentErrors.contains(.ownedByAnotherCustomer(originalTransactionID: request.transactionID)))
      try result.requireVerified()
    }
  }

  @Test("A document of another environment than the called one is rejected")
  func otherEnvironment() async throws {
    try await run { service in
      let bought = try await service.simulator.purchase(
        PurchaseOrder(app: "demo", productId: "monthly", account: "a"))
      var request = request(bought.transactionId)
      request.environment = .production
      let result = try await service.lookup.ingest(
        signedTransactions: [bought.signedTransactionInfo], request)
      #expect(result.transactions.isEmpty)
      guard case .rejected(.notVerified(.wrongEnvironment), _)? = result.documentErrors.first else {
        Issue.record("it gave \(result.documentErrors)")
        return
      }
      do throws(LookupError) { try result.requireVerified() } catch {
        #expect("\(error)" == "App Store response holds a document of another environment: Sandbox")
      }
    }
  }

  @Test("Of several documents of a transaction, it counts once, and only if one is newer than the stored one")
  func changedTransactions() async throws {
    try await run { service in
      let request = try await buy("monthly", service)
      let first = try await service.lookup.fetchAll(request)
      #expect(first.newTransactions == [request.transactionID] && first.newDocuments > 0)
      let documents = try await service.lookup.fetchDocuments(request).compactMap(\.signedTransaction)
      let known = try await service.lookup.ingest(signedTransactions: documents, request)
      #expect(known.transactions.count == 1)
      let again = try await service.lookup.ingest(signedTransactions: documents, request)
      #expect(again.newTransactions.isEmpty && again.newDocuments == 0)
    }
  }

  @Test("A status lookup makes one call")
  func statuses() async throws {
    try await run { service in
      let request = try await buy("monthly", service)
      let result = try await service.lookup.fetchStatuses(request)
      #expect(result.transactions.map(\.productId) == ["monthly"])
      #expect(service.exchange.paths == [Self.statuses + request.transactionID])
    }
  }

  @Test("A lookup of non-subscriptions leaves subscriptions out")
  func nonSubscriptions() async throws {
    try await run { service in
      _ = try await buy("monthly", service)
      let result = try await service.lookup.fetchNonSubscriptions(try await buy("unlock", service))
      #expect(result.transactions.map(\.productId) == ["unlock"])
      #expect(service.exchange.paths.count == 1)
    }
  }

  @Test("Fetched documents are not ingested")
  func documents() async throws {
    try await run { service in
      let request = try await buy("monthly", service)
      let documents = try await service.lookup.fetchDocuments(request)
      #expect(documents.count == 2)
      #expect(try await facts(request.transactionID, service).transactions.isEmpty)
    }
  }

  @Test("A lookup continues at the revision at which an earlier one ended")
  func revisions() async throws {
    try await run { service in
      let request = try await buy("monthly", service)
      // More renewals than a page has.
      try await service.simulator.advanceClock(
        to: service.simulator.clock.now().advanced(byMilliseconds: 800 * Instant.millisecondsPerDay))
      var first = try service.lookup.pages(request)
      #expect(try await first.next()?.count == 20 && !first.isAtEnd)
      let revision = try #require(first.revision)
      var rest = try service.lookup.pages(request, from: revision)
      let documents = try await rest.next()
      #expect(documents?.isEmpty == false && documents?.count ?? 20 < 20)
      #expect(try await rest.next()?.count == 1, "the status")
      #expect(rest.isAtEnd)
      #expect(try await rest.next() == nil)
      #expect(rest.revision != nil && rest.revision != revision)
    }
  }

  @Test("Each failure has its own error")
  func failures() async throws {
    try await run { service in
      var production = request("1")
      production.environment = .production
      await #expect(throws: LookupError.noKey(appID: "demo", environment: .production)) {
        _ = try await service.lookup.fetchAll(production)
      }
      do throws(LookupError) {
        _ = try await service.lookup.fetchAll(request("1"))
        Issue.record("an unknown transaction was found")
      } catch {
        guard case .appStore(.refused(.transactionIdNotFound, _)) = error else {
          throw error
        }
      }
      service.exchange.fail(with: .unreachable("reset"))
      await #expect(throws: LookupError.appStore(.unreachable(host: "sandbox", problem: "reset"))) {
        _ = try await service.lookup.fetchStatuses(request("1"))
      }
      service.exchange.fail(with: .cancelled)
      await #expect(throws: LookupError.cancelled) { _ = try await service.lookup.fetchAll(request("1")) }
    }
  }

  @Test("A document that fails verification is rejected, and the others are ingested")
  func unverifiable() async throws {
    try await run { service in
      let bought = try await service.simulator.purchase(
        PurchaseOrder(app: "demo", productId: "monthly", account: "a"))
      let result = try await service.lookup.ingest(
        signedTransactions: ["not.a.jws", bought.signedTransactionInfo], request(bought.transactionId))
      #expect(result.transactions.map(\.transactionId) == [bought.transactionId])
      #expect(result.documentErrors.count == 1)
      #expect(throws: LookupError.self) { try result.requireVerified() }
    }
  }
}
