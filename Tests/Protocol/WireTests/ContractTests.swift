import Foundation
import TestSupport
import Testing
import Wire

@Suite struct ContractTests {
  @Test("A method is found by its path, with its types")
  func methods() throws {
    let check = try #require(Contract.method(named: "/entitled.v1.EntitlementService/Check"))
    #expect(check.requestType == CheckRequest.self && check.responseType == CheckResponse.self)
    #expect(!check.clientStreaming && !check.serverStreaming)
    let watch = try #require(Contract.method(named: "/grpc.health.v1.Health/Watch"))
    #expect(watch.serverStreaming)
    #expect(Contract.method(named: "/entitled.v1.EntitlementService/Cheque") == nil)
  }

  @Test("Every message of every method decodes from no bytes and survives JSON")
  func everyMessage() throws {
    func roundTrip<Message: WireMessage>(_ type: Message.Type) throws {
      #expect(try Message.decode([]) == Message())
      #expect(try Message(json: Message().json()) == Message())
    }
    for method in Contract.services.flatMap(\.methods) {
      try roundTrip(method.requestType)
      try roundTrip(method.responseType)
    }
  }

  @Test(
    "Reflection finds a file by its name and by its symbols",
    arguments: [
      "entitled.v1.EntitlementService", "entitled.v1.EntitlementService.Check", "entitled.v1.CheckRequest",
      "entitled.v1.WatchResponse.content", "entitled.v1.WatchRequest.customer_ids",
    ])
  func symbols(symbol: String) throws {
    let name = try #require(FileDescriptors.fileName(containingSymbol: symbol))
    #expect(name == "entitled/v1/entitlement_service.proto")
    let file = try #require(FileDescriptors.file(named: name))
    // Field 1 is the file's name.
    #expect(Array(file.prefix(2 + name.utf8.count)) == [0x0A, UInt8(name.utf8.count)] + Array(name.utf8))
  }

  @Test("An undeclared symbol or file is not found")
  func unknownSymbols() {
    #expect(FileDescriptors.fileName(containingSymbol: "entitled.v1.Nothing") == nil)
    #expect(FileDescriptors.file(named: "nothing.proto") == nil)
    #expect(FileDescriptors.closure(ofFileNamed: "nothing.proto").isEmpty)
  }

  @Test("The closure of a file has each import once")
  func closure() {
    let files = FileDescriptors.closure(ofFileNamed: "entitled/v1/entitlement_service.proto")
    #expect(Set(files).count == files.count)
    #expect(files.contains(FileDescriptors.file(named: "google/protobuf/any.proto") ?? []))
    #expect(files.first == FileDescriptors.file(named: "entitled/v1/entitlement_service.proto"))
  }

  @Test(
    "A method has no side effects if it is ours and does not mutate",
    arguments: [
      ("/entitled.v1.EntitlementService/Check", true), ("/entitled.v1.EntitlementService/Grant", false),
      ("/entitled.v1.StatusService/WhoAmI", true), ("/grpc.health.v1.Health/Check", false),
    ])
  func sideEffects(path: String, hasNone: Bool) throws {
    #expect(try #require(Contract.method(named: path)).hasNoSideEffects == hasNone)
  }

  @Test("Every service is listed")
  func services() {
    #expect(
      Contract.services.map(\.name).sorted() == [
        "entitled.v1.AppStoreService", "entitled.v1.AuditService", "entitled.v1.CatalogService",
        "entitled.v1.CustomerService",
        "entitled.v1.DeviceCheckService",
        "entitled.v1.EntitlementService",
        "entitled.v1.NotificationService",
        "entitled.v1.ReceiptService", "entitled.v1.ReportService",
        "entitled.v1.RetentionMessagingService", "entitled.v1.SegmentService",
        "entitled.v1.StatusService",
        "entitled.v1.WebhookService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
      ])
  }
}

private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent()
  .deletingLastPathComponent()

private let hasGenerator =
  FileManager.default.isExecutableFile(atPath: root.appending(path: ".venv/bin/python3").path)
  && FileManager.default.isExecutableFile(atPath: "/usr/bin/protoc-c")

@Suite(.enabled(if: hasGenerator, "needs protoc-c and the Python environment of tools/bootstrap"))
struct GenerationTests {
  @Test("The generated files match the output of tools/generate for the current proto/")
  func current() throws {
    let check = try Command.run(root.appending(path: "tools/generate").path, ["--check"])
    #expect(check.hasSucceeded, "run make proto and commit the result")
  }
}
