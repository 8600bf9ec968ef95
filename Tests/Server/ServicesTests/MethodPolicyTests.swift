import Callers
import Testing
import Wire

@testable import Services

@Suite struct MethodPolicyTests {
  @Test(
    "The table says of every method of the contract who may call it",
    arguments: Contract.services.flatMap(\.methods).map(\.fullName))
  func decided(method: String) {
    #expect(MethodPolicy.isDecided(method), "\(method) is not in Services/MethodPolicy.swift")
  }

  @Test("A method that was forgotten is closed to all but admins")
  func forgotten() {
    #expect(MethodPolicy.of("/entitled.v1.EntitlementService/Forgotten").role == .admin)
  }

  @Test("Nobody who may only read can change anything")
  func readersChangeNothing() {
    for method in Contract.services.flatMap(\.methods).map({ MethodPolicy.of($0.fullName) }) {
      #expect(method.isChange == false || [.submit, .operate, .admin].contains(method.role))
    }
  }

  @Test(
    "A request that changes something names its app, so that callers can be held to theirs",
    arguments: Contract.services.flatMap(\.methods).filter { MethodPolicy.of($0.fullName).role != nil }
      .map { ($0.fullName, $0.requestType.messageType) })
  func appIsNamed(method: String, request: MessageType) {
    let byID = ["GetMigration", "ListMigrationFailures", "CancelMigration", "UploadMigrationInput"]
    let isByID = byID.contains { method.hasSuffix("/\($0)") }
    #expect(request.path(toText: "app") != nil || isByID)
  }
}
