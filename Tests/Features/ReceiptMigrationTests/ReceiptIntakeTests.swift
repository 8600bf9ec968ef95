import AppStore
import AppStoreClient
import AppStoreSupport
import AppleLookup
import Entitlements
import Foundation
import Ledger
import SQLiteStore
import Sandbox
import Store
import Testing

@testable import ReceiptMigration

@Suite("Receipt intake") struct ReceiptIntakeTests {
  /// The error of a submission.
  private func failure(
    _ service: ReceiptService, _ content: IncomingReceipt.Content, for customer: String? = "ana"
  ) async -> ReceiptError? {
    do throws(ReceiptError) {
      _ = try await service.submit(content, for: customer)
      return nil
    } catch {
      return error
    }
  }

  @Test("A receipt is verified, looked up and linked to its customer")
  func receipt() async throws {
    try await ReceiptService.run { service in
      let outcome = try await service.submit(.text(try await service.receipt()))
      #expect(outcome.kind == .appReceipt && outcome.environment == .sandbox)
      #expect(outcome.lines.count == 1 && outcome.problems.isEmpty)
      #expect(outcome.lookupFailure == nil && outcome.result.customerID == "ana")
      #expect(outcome.result.facts.transactions.count == 1)
      #expect(!service.appStore.exchange.paths.isEmpty)
    }
  }

  @Test("A receipt holds while the App Store is unreachable, and its lookup is queued")
  func unreachable() async throws {
    try await ReceiptService.run { service in
      let receipt = try await service.receipt()
      service.appStore.exchange.fail(with: .unreachable("reset"))
      let outcome = try await service.submit(.text(receipt))
      #expect(outcome.lookupFailure == .appStore(.unreachable(host: "sandbox", problem: "reset")))
      #expect(outcome.pendingReason == "APP_STORE_UNAVAILABLE")
      #expect(outcome.result.facts.transactions.count == 1)
      let next = try await service.appStore.store.read { snapshot throws(StoreError) in
        try snapshot.nextRefresh(in: .all)
      }
      #expect(next != nil)
    }
  }

  @Test("A dry run verifies a receipt without a lookup")
  func dryRun() async throws {
    try await ReceiptService.run { service in
      let content = IncomingReceipt.Content.text(try await service.receipt())
      let result = try await service.intake.dryRun(
        IncomingReceipt(appID: "demo", customerID: "ana", content: content))
      #expect(result.lines.count == 1 && result.environment == .sandbox)
      #expect(service.appStore.exchange.paths.isEmpty)
    }
  }

  @Test("A receipt whose purchases belong to another customer is rejected")
  func otherOwner() async throws {
    try await ReceiptService.run { service in
      let receipt = try await service.receipt()
      let lines = try await service.submit(.text(receipt)).lines
      let error = await failure(service, .text(receipt), for: "ben")
      guard case .rejected(let rejection, _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(rejection == .ownedByAnotherCustomer(originalTransactionIDs: lines))
      #expect(error?.isRetryable == false)
    }
  }

  @Test("Documents that are no receipts are rejected and stored as evidence")
  func documents() async throws {
    try await ReceiptService.run { service in
      let signed = try await service.purchase().signedTransactionInfo
      for (text, reason) in [(signed, "NOT_A_RECEIPT"), ("MIIé!!", "NOT_BASE64")] {
        let error = await failure(service, .text(text))
        guard case .rejected(_, let evidence) = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(error?.reason == reason)
        #expect(evidence != nil)
      }
      #expect(await failure(service, .text("")) == .rejected(.empty, evidence: nil))
    }
  }

  @Test("A transaction id is linked only if the operator vouches for its customer")
  func transactionID() async throws {
    try await ReceiptService.run { service in
      let id = try await service.purchase().originalTransactionId
      let unlinked = try await service.submit(.originalTransactionID(id))
      #expect(unlinked.kind == .originalTransactionID && unlinked.result.customerID == nil)
      var incoming = IncomingReceipt(appID: "demo", customerID: "ana", content: .originalTransactionID(id))
      incoming.binding = .assignedByOperator(actor: "ops")
      #expect(try await service.intake.submit(incoming).result.customerID == "ana")
    }
  }

  @Test("A transaction id that cannot be looked up has its own error for each cause")
  func transactionIDFailures() async throws {
    try await ReceiptService.run { service in
      #expect(
        await failure(service, .originalTransactionID("0")) == .rejected(.transactionIDZero, evidence: nil))
      #expect(
        await failure(service, .originalTransactionID("1")) == .rejected(.unknownToApple("1"), evidence: nil))
      service.appStore.exchange.fail(with: .timedOut)
      #expect(await failure(service, .originalTransactionID("1")) == .lookupFailed(.appStore(.timedOut)))
    }
  }

  @Test("A transaction id that Production does not have is looked up in the sandbox")
  func otherEnvironment() async throws {
    try await ReceiptService.run(in: [.production, .sandbox]) { service in
      let id = try await service.purchase().originalTransactionId
      for environments in [[], [.production, .sandbox]] as [[AppStore.Environment]] {
        var incoming = IncomingReceipt(appID: "demo", customerID: "ana", content: .originalTransactionID(id))
        incoming.environments = environments
        incoming.binding = .assignedByOperator(actor: "ops")
        let outcome = try await service.intake.submit(incoming)
        #expect(outcome.environment == .sandbox && outcome.result.customerID == "ana")
        #expect(outcome.result.facts.transactions.count == 1 && outcome.problems.isEmpty)
      }
      #expect(
        await failure(service, .originalTransactionID("1")) == .rejected(.unknownToApple("1"), evidence: nil))
    }
  }

  @Test("Before the first release of an app, Production rejects the key and the sandbox has the purchases")
  func unreleasedApp() async throws {
    try await ReceiptService.run(in: [.production, .sandbox]) { service in
      service.appStore.exchange.withdrawRelease()
      let id = try await service.purchase().originalTransactionId
      #expect(try await service.submit(.originalTransactionID(id)).environment == .sandbox)
      // The key may be wrong, so the id is not rejected.
      #expect(
        await failure(service, .originalTransactionID("1")) == .lookupFailed(.appStore(.unauthorized)))
    }
  }

  @Test("All lookups of one submission share its timeout, in all environments")
  func sharedTimeout() async throws {
    try await ReceiptService.run(in: [.production, .sandbox]) { service in
      let exchange = service.appStore.exchange
      let id = try await service.purchase().originalTransactionId
      var incoming = IncomingReceipt(appID: "demo", customerID: nil, content: .originalTransactionID(id))
      incoming.timeout = .seconds(8)
      exchange.slowDown(to: .seconds(3))
      #expect(try await service.intake.submit(incoming).environment == .sandbox)
      // The history in Production, and the history and the statuses in the sandbox.
      #expect(exchange.paths.count == 3)
      for (timeout, limit) in zip(exchange.timeouts, [8, 5, 2]) { #expect(timeout <= .seconds(limit)) }
      exchange.slowDown(to: .seconds(9))
      let error = await #expect(throws: ReceiptError.self) { _ = try await service.intake.submit(incoming) }
      #expect(error == .lookupFailed(.appStore(.timedOut)) && exchange.paths.count == 4)
    }
  }

  @Test("An app whose first environment has no key has its ids looked up in the next one")
  func firstEnvironmentWithoutKey() async throws {
    try await ReceiptService.run(in: [.production, .sandbox]) { service in
      service.appStore.clients["demo", .production] = nil
      let id = try await service.purchase().originalTransactionId
      #expect(try await service.submit(.originalTransactionID(id)).environment == .sandbox)
      // Production may have the id, so it is not rejected.
      #expect(
        await failure(service, .originalTransactionID("1"))
          == .lookupFailed(.noKey(appID: "demo", environment: .production)))
    }
  }

  @Test("Apple has no purchases of Xcode, so ids are looked up in the next environment, or are unknown")
  func xcodeFirst() async throws {
    let rejection = ReceiptError.rejected(.notAtApple([.xcode]), evidence: nil)
    try await ReceiptService.run(in: [.xcode, .sandbox]) { service in
      let id = try await service.purchase().originalTransactionId
      #expect(try await service.submit(.originalTransactionID(id)).environment == .sandbox)
      var incoming = IncomingReceipt(appID: "demo", customerID: nil, content: .originalTransactionID(id))
      incoming.environments = [.xcode]
      let error = await #expect(throws: ReceiptError.self) { _ = try await service.intake.submit(incoming) }
      #expect(error == rejection && error?.reason == "UNKNOWN_TO_APPLE" && error?.isRetryable == false)
    }
    try await ReceiptService.run(in: [.xcode]) { service in
      #expect(await failure(service, .originalTransactionID("1")) == rejection)
      #expect(service.appStore.exchange.paths.isEmpty)
    }
  }

  @Test("An environment without a client for the App Store is not searched")
  func environmentWithoutClient() async throws {
    try await ReceiptService.run(in: [.sandbox, .xcode]) { service in
      #expect(
        await failure(service, .originalTransactionID("1")) == .rejected(.unknownToApple("1"), evidence: nil))
    }
  }

  @Test(
    "An environment that the caller names is the only one in which a transaction id is looked up",
    arguments: [[.sandbox, .production], [.production, .sandbox]] as [[AppStore.Environment]])
  func namedEnvironment(ofApp environments: [AppStore.Environment]) async throws {
    try await ReceiptService.run(in: environments) { service in
      let id = try await service.purchase().originalTransactionId
      let refusals: [(AppStore.Environment, ReceiptRejection)] = [
        (.production, .unknownToApple(id)), (.xcode, .notVerified(.wrongEnvironment("Xcode"))),
      ]
      for (environment, refusal) in refusals {
        var incoming = IncomingReceipt(appID: "demo", customerID: nil, content: .originalTransactionID(id))
        incoming.environments = [environment]
        do throws(ReceiptError) {
          _ = try await service.intake.submit(incoming)
          Issue.record("\(environment) was searched")
        } catch {
          #expect(error == .rejected(refusal, evidence: nil))
        }
      }
    }
  }

  @Test("A receipt from before iOS 7 that states no environment is looked up in all of the app's")
  func oldReceipt() async throws {
    try await ReceiptService.run(
      ReceiptPolicy(looksUpUnverified: true), in: [.production, .sandbox]
    ) { service in
      let id = try await service.purchase().originalTransactionId
      let info = #"{"transaction-id" = "\#(id)"; "bid" = "com.example";}"#
      func receipt(_ environment: String) -> IncomingReceipt.Content {
        .text(#"{\#(environment)"purchase-info" = "\#(Data(info.utf8).base64EncodedString())";}"#)
      }
      let outcome = try await service.submit(receipt(""))
      #expect(outcome.kind == .transactionReceipt && outcome.environment == .sandbox)
      #expect(!outcome.result.transactions.isEmpty && outcome.result.customerID == nil)
      #expect(try await service.submit(receipt(#""environment" = "Sandbox";"#)).environment == .sandbox)
      #expect(
        await failure(service, receipt(#""environment" = "Production";"#))?.reason == "UNKNOWN_TO_APPLE")
    }
  }

  @Test("With the policy 'both', verifyReceipt must return a verdict")
  func verifyReceipt() async throws {
    try await ReceiptService.run(ReceiptPolicy(verification: .both)) { service in
      let receipt = try await service.receipt()
      #expect(try await service.submit(.text(receipt)).kind == .appReceipt)
      #expect(service.appStore.exchange.paths.first == "/verifyReceipt")
      service.appStore.exchange.fail(with: .unreachable("reset"))
      let error = await failure(service, .text(receipt))
      #expect(
        error == .verifyReceiptFailed(.callFailed(.unreachable(host: "sandbox", problem: "reset"))))
      #expect(error?.reason == "VERIFY_RECEIPT_UNAVAILABLE" && error?.isRetryable == true)
    }
  }
}
