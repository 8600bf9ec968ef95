import Callers
import Testing
import Wire

@testable import Services

@Suite("Access rules of the contract")
struct MethodPolicyTests {
  @Test("Every method of the package entitled.v1 needs a role or any caller, and no other method does")
  func roles() {
    for method in Contract.services.flatMap(\.methods) {
      #expect(
        (method.role != nil || method.anyRole) == method.service.hasPrefix("entitled.v1."),
        "\(method.fullName)")
      #expect(MethodPolicy.of(method.fullName).needsCaller == method.service.hasPrefix("entitled.v1."))
      #expect(MethodPolicy.of(method.fullName).role?.rawValue == method.role.map { "\($0)" })
    }
  }

  @Test("A path outside the contract is closed to all callers but admins")
  func unknownPath() {
    let policy = MethodPolicy.of("/entitled.v1.EntitlementService/Forgotten")
    #expect(policy.role == .admin && policy.mutates)
  }

  @Test("The role read includes no mutating method")
  func readersChangeNothing() {
    for policy in MethodPolicy.contract.values where policy.mutates {
      #expect([.submit, .operate, .admin].contains(policy.role), "\(policy.path)")
    }
  }

  @Test("Every call about customers has an audit entry, except Check and BatchCheck")
  func recordedMethods() {
    for method in Contract.services.flatMap(\.methods) where method.service.hasPrefix("entitled.v1.") {
      let policy = MethodPolicy.of(method.fullName)
      let namesCustomer = method.requestType.messageType.path(toText: "customer_id") != nil
      let isAboutCustomers = method.mutates || namesCustomer || method.showsCustomers
      #expect(policy.isRecorded == (isAboutCustomers && !method.onEventLoop), "\(method.fullName)")
    }
    #expect(!MethodPolicy.of("/entitled.v1.EntitlementService/Check").isRecorded)
    #expect(MethodPolicy.of("/entitled.v1.CustomerService/GetEvidence").isRecorded)
  }

  @Test("An actor that selects audit entries is not the actor of the call")
  func actorOfFilter() {
    func subject(_ name: String, _ request: some WireMessage) -> CallInFlight.Subject {
      request.encodedBytes().withUnsafeBytes { MethodPolicy.of("/entitled.v1.\(name)").subject(of: $0) }
    }
    let filter = ListAuditEntriesRequest.with { ($0.app, $0.customerId, $0.actor) = ("ocean", "ana", "sam") }
    let looked = subject("AuditService/ListAuditEntries", filter)
    #expect(looked.apps == ["ocean"] && looked.customers == ["ana"] && looked.actor.isEmpty)
    #expect(subject("EntitlementService/Grant", GrantRequest.with { $0.actor = "sam" }).actor == "sam")
  }

  @Test("Only Check and BatchCheck run on the event loop")
  func eventLoopMethods() {
    let names = Contract.services.flatMap(\.methods).filter(\.onEventLoop).map(\.name)
    #expect(names == ["Check", "BatchCheck"])
  }

  @Test(
    "A request names its app, so that callers can be limited to theirs",
    arguments: Contract.services.flatMap(\.methods).filter { $0.role != nil }
      .map { ($0.fullName, $0.requestType.messageType) })
  func appIsNamed(method: String, request: MessageType) {
    let isLimited = Contract.method(named: method)?.limitsApps == true
    #expect(request.path(toText: "app") != nil || isLimited)
  }
}
