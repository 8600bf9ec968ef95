import AppStore
import Foundation
import HTTP
import JSON
import Sandbox
import SignedData
import Testing

/// The simulator as `curl` sees it.
@Suite final class SandboxHTTPTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "sandbox-\(UUID().uuidString)")
  private let store: AppStoreSimulator

  init() throws {
    let products = [SandboxProduct(productId: "unlock", type: .nonConsumable, price: 4990)]
    let app = SandboxApp(
      id: "demo", identity: AppIdentity(bundleID: "com.example", appAppleID: 1234), products: products)
    store = try AppStoreSimulator(
      apps: [app], directory: folder.path, now: { Instant(rfc3339: "2026-01-01T00:00:00Z")! })
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func post(_ body: String) async throws -> (HTTPResponse, JSONObject) {
    let response = await store.respond(
      to: HTTPRequest(method: "POST", target: "/sandbox/v1/purchases", body: Array(body.utf8)))
    return (response, try #require(JSONValue(parsing: response.body).objectValue))
  }

  @Test("A purchase answers with the signed transaction and its ids")
  func purchase() async throws {
    let (response, json) = try await post(
      #"{"app": "demo", "productId": "unlock", "purchaseDate": "2025-06-01T00:00:00Z"}"#)
    #expect(response.status == 200)
    #expect(json["productId"] == "unlock")
    #expect(json["environment"] == "Sandbox")
    #expect(json["transactionId"] == json["originalTransactionId"])
    let jws = try UnverifiedJWS(try #require(json["signedTransactionInfo"]?.stringValue))
    #expect(jws.payload["transactionId"] == json["transactionId"])
    #expect(jws.payload["purchaseDate"] == 1_748_736_000_000)
    #expect(json["signedRenewalInfo"] == nil)
  }

  @Test(
    "An order that cannot be filled says why, and what there is",
    arguments: [
      ("", "MALFORMED_JSON", ""), ("[]", "MALFORMED_JSON", ""),
      (#"{"productId": "unlock"}"#, "MISSING_MEMBER", "app"),
      (#"{"app": "demo"}"#, "MISSING_MEMBER", "productId"),
      (#"{"app": "demo", "product": "unlock"}"#, "UNKNOWN_MEMBER", "productId"),
      (#"{"app": "demo", "productId": 5}"#, "WRONG_TYPE", "productId"),
      (#"{"app": "other", "productId": "unlock"}"#, "UNKNOWN_APP", "demo"),
      (#"{"app": "demo", "productId": "lock"}"#, "UNKNOWN_PRODUCT", "unlock"),
      (
        #"{"app": "demo", "productId": "unlock", "appAccountToken": "me"}"#, "INVALID_APP_ACCOUNT_TOKEN",
        "UUID"
      ),
      (#"{"app": "demo", "productId": "unlock", "quantity": 2}"#, "INVALID_QUANTITY", "1"),
      (#"{"app": "demo", "productId": "unlock", "purchaseDate": "today"}"#, "WRONG_TYPE", "RFC 3339"),
      (
        #"{"app": "demo", "productId": "unlock", "purchaseDate": 1900000000000}"#, "PURCHASE_DATE_IN_FUTURE",
        "now"
      ),
    ])
  func refused(body: String, code: String, hint: String) async throws {
    let (response, json) = try await post(body)
    #expect(response.status == 400)
    let error = try #require(json["error"]?.objectValue)
    #expect(error["code"]?.stringValue == code)
    #expect(hint.isEmpty || error["message"]?.stringValue?.contains(hint) == true)
  }

  @Test("The root and the catalog can be fetched")
  func reading() async throws {
    let root = await store.respond(to: HTTPRequest(method: "GET", target: "/sandbox/v1/root"))
    #expect(root.status == 200)
    #expect(try Certificate(pem: String(decoding: root.body, as: UTF8.self)).der == store.root.der)
    let apps = await store.respond(to: HTTPRequest(method: "GET", target: "/sandbox/v1/apps"))
    let json = try #require(JSONValue(parsing: apps.body).objectValue)
    let first = try #require(json["apps"]?.arrayValue?.first?.objectValue)
    #expect(first["app"] == "demo")
    #expect(first["products"]?.arrayValue?.count == 1)
  }

  @Test("Other paths are not found, other methods not allowed")
  func notThere() async {
    #expect(await store.respond(to: HTTPRequest(method: "GET", target: "/sandbox/v1/x")).status == 404)
    for (method, path, allowed) in [
      ("GET", "refund", "POST"), ("GET", "documents/transaction", "POST"),
      ("GET", "purchases", "POST"), ("POST", "root", "GET"), ("PUT", "apps", "GET"),
    ] {
      let response = await store.respond(to: HTTPRequest(method: method, target: "/sandbox/v1/\(path)"))
      #expect(response.status == 405)
      #expect(response.headers["allow"] == allowed)
    }
  }
}
