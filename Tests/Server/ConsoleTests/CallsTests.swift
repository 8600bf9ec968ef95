import Callers
import Markup
import Testing
import Wire

@testable import Console
@testable import Services

@Suite struct CallsTests {
  /// Every call of the pages, with the types of its messages.
  private static let calls: [(path: String, request: String, response: String)] = [
    entry(Calls.findCustomers), entry(Calls.describeCustomer), entry(Calls.getCustomer),
    entry(Calls.batchCheck), entry(Calls.getCustomerHistory), entry(Calls.explain), entry(Calls.listTimeline),
    entry(Calls.getProbableFamily),
    entry(Calls.listUnfulfilledPurchases), entry(Calls.listNotes), entry(Calls.getCustomerAttributes),
    entry(Calls.listContradictions), entry(Calls.inspect), entry(Calls.getPurchase),
    entry(Calls.getEvidence), entry(Calls.getEvent),
    entry(Calls.listConsumptionRequests), entry(Calls.listConsentWithdrawals),
    entry(Calls.listUnclaimedPurchases), entry(Calls.listGrants), entry(Calls.listWebhooks),
    entry(Calls.listDeliveries), entry(Calls.getDelivery),
    entry(Calls.listNotifications), entry(Calls.listRepairs), entry(Calls.getDriftReport),
    entry(Calls.listMigrations), entry(Calls.listMigrationFailures),
    entry(Calls.listDisagreements),
    entry(Calls.listSegments), entry(Calls.listCustomers),
    entry(Calls.getCatalog), entry(Calls.queryReport), entry(Calls.listReportPurchases),
    entry(Calls.getReconciliation),
    entry(Calls.listAuditEntries), entry(Calls.whoAmI), entry(Calls.getStatus), entry(Calls.getConfiguration),
    entry(Calls.addNote), entry(Calls.deleteNote), entry(Calls.setCustomerAttributes), entry(Calls.grant),
    entry(Calls.revokeGrant), entry(Calls.linkPurchase), entry(Calls.transferPurchase),
    entry(Calls.mergeCustomers),
    entry(Calls.undoTransfer), entry(Calls.eraseCustomer), entry(Calls.refreshPurchase),
    entry(Calls.extendRenewalDate), entry(Calls.sendConsumptionInformation), entry(Calls.lookUpOrder),
    entry(Calls.massExtendRenewalDate), entry(Calls.setConsumptionConsent),
    entry(Calls.setAppAccountToken), entry(Calls.settleConsentWithdrawal), entry(Calls.getRefundHistory),
    entry(Calls.reprocessNotifications), entry(Calls.backfillNotifications), entry(Calls.cancelMigration),
    entry(Calls.resendDeliveries), entry(Calls.discardDeliveries), entry(Calls.resumeWebhook),
  ]

  private static func entry<Request, Response>(
    _ call: ContractCall<Request, Response>
  ) -> (path: String, request: String, response: String) {
    (call.path, Request.messageType.name, Response.messageType.name)
  }

  @Test("Each call has a method of the contract with these messages, which runs as a task", arguments: calls)
  func contract(call: (path: String, request: String, response: String)) throws {
    let method = try #require(Contract.method(named: call.path))
    #expect(method.requestType.messageType.name == call.request)
    #expect(method.responseType.messageType.name == call.response)
    // In this process, batches of checks run as tasks too.
    #expect(!method.onEventLoop || call.path == Calls.batchCheck.path)
    #expect(!method.clientStreaming && !method.serverStreaming)
  }

  @Test("The stream of live pages is the one of the contract")
  func stream() throws {
    let (path, request, response) = Self.entry(Calls.watch)
    let method = try #require(Contract.method(named: path))
    #expect(method.requestType.messageType.name == request)
    #expect(method.responseType.messageType.name == response)
    #expect(method.serverStreaming && !method.clientStreaming)
  }

  @Test("Each action needs a role, and each but a note asks for a reason", arguments: ActionName.allCases)
  func roles(action: ActionName) {
    let role = MethodPolicy.of(action.path).role
    #expect(role != nil && role != .read)
    #expect(Action.named(action).fields.contains { $0.name == "note" } == (action != .addNote))
  }
}
