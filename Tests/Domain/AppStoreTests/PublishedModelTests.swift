import AppStore
import Foundation
import JSON
import TestSupport
import Testing

/// Apple's example payloads from its server libraries.
@Suite(.enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA does not exist"))
struct PublishedModelTests {
  private func model(_ name: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: TestData.bytes("apple-asl/models/\(name).json")).objectValue)
  }

  @Test(
    "Every member of the published payloads has a property",
    arguments: [
      ("signedTransaction", JWSTransactionDecodedPayload.self),
      ("signedTransactionWithRevocation", JWSTransactionDecodedPayload.self),
      ("signedRenewalInfo", JWSRenewalInfoDecodedPayload.self),
      ("appTransaction", AppTransactionPayload.self),
      ("signedNotification", ResponseBodyV2DecodedPayload.self),
      ("signedConsumptionRequestNotification", ResponseBodyV2DecodedPayload.self),
      ("signedSummaryNotification", ResponseBodyV2DecodedPayload.self),
      ("signedExternalPurchaseTokenNotification", ResponseBodyV2DecodedPayload.self),
      ("signedExternalPurchaseTokenSandboxNotification", ResponseBodyV2DecodedPayload.self),
      ("signedRescindConsentNotification", ResponseBodyV2DecodedPayload.self),
      ("appData", NotificationAppData.self),
      ("decodedRealtimeRequest", DecodedRealtimeRequestBody.self),
      ("advancedCommerceOffer", AdvancedCommerceOffer.self),
      ("advancedCommerceDescriptors", AdvancedCommerceDescriptors.self),
    ] as [(String, any DecodedPayload.Type)])
  func complete(name: String, type: any DecodedPayload.Type) throws {
    let json = try model(name)
    let payload = try type.init(json: json)
    #expect(payload.json == json)
    expectEveryMember(of: payload, in: name)
  }

  @Test(
    "Every code in the published payloads is known",
    arguments: ["signedTransaction", "signedNotification", "signedConsumptionRequestNotification"])
  func codes(name: String) throws {
    let json = try model(name)
    let payload: any DecodedPayload =
      name == "signedTransaction"
      ? try JWSTransactionDecodedPayload(json: json) : try ResponseBodyV2DecodedPayload(json: json)
    #expect(!String(describing: payload).contains("unrecognized("))
  }
}

/// Checks that every member of a payload and its parts has a property.
private func expectEveryMember(of payload: any DecodedPayload, in name: String) {
  var present: Set<String> = []
  for child in Mirror(reflecting: payload).children {
    guard let label = child.label, label != "json", let value = unwrapped(child.value) else { continue }
    present.insert(label == "sku" ? "SKU" : label)
    let parts = value as? [any DecodedPayload] ?? [value as? any DecodedPayload].compactMap(\.self)
    for part in parts { expectEveryMember(of: part, in: "\(name).\(label)") }
  }
  #expect(present == Set(payload.json.map(\.name)), "\(name)")
}

private func unwrapped(_ value: Any) -> Any? {
  let mirror = Mirror(reflecting: value)
  return mirror.displayStyle == .optional ? mirror.children.first?.value : value
}

/// Third-party test data outside the project: `ENTITLED_TESTDATA`, or next to the package.
enum TestData {
  static let folder: URL? = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .deletingLastPathComponent()
    let given = ProcessInfo.processInfo.environment["ENTITLED_TESTDATA"] ?? "../shared/testdata"
    let folder = URL(filePath: given, relativeTo: root)
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  static func bytes(_ path: String) throws -> [UInt8] {
    guard let folder else { throw CocoaError(.fileNoSuchFile) }
    return [UInt8](try Data(contentsOf: folder.appending(path: path)))
  }
}
