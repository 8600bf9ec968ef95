import AppStore
import HTTP
import JSON
import Sandbox
import SignedData
import Synchronization
import Testing

/// The HTTP interface.
@Suite final class SandboxHTTPTests {
  private let store: AppStoreSimulator

  init() throws {
    let products = [SandboxProduct(productId: "unlock", type: .nonConsumable, price: 4990)]
    let app = SandboxApp(
      id: "demo", identity: AppIdentity(bundleID: "com.example", appAppleID: 1234), products: products)
    store = try AppStoreSimulator(
      apps: [app], storage: .memory, now: { Instant(rfc3339: "2026-01-01T00:00:00Z")! })
  }

  private func post(_ body: String) async throws -> (HTTPResponse, JSONObject) {
    let response = await store.respond(
      to: HTTPRequest(method: "POST", target: "/sandbox/v1/purchases", body: Array(body.utf8)))
    return (response, try #require(JSONValue(parsing: response.body).objectValue))
  }

  @Test("A purchase returns the signed transaction and its ids")
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
    "A malformed order is rejected with the reason and the alternatives",
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
        "future"
      ),
    ])
  func refused(body: String, code: String, hint: String) async throws {
    let (response, json) = try await post(body)
    #expect(response.status == 400)
    let error = try #require(json["error"]?.objectValue)
    #expect(error["code"]?.stringValue == code)
    #expect(hint.isEmpty || error["message"]?.stringValue?.contains(hint) == true)
  }

  @Test("The root and the catalog are served")
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

  @Test("Unknown paths return 404 and wrong methods 405")
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

  private func get(_ path: String) async -> HTTPResponse {
    await store.respond(to: HTTPRequest(method: "GET", target: "/sandbox/v1/\(path)"))
  }

  @Test("Accounts and receipts are paged in the order of account names")
  func pages() async throws {
    for account in ["b", "a", "c"] {
      _ = try await post(#"{"app": "demo", "productId": "unlock", "account": "\#(account)"}"#)
    }
    var names: [String] = []
    while true {
      let page = await get("receipts?app=demo&limit=2&after=\(names.last ?? "")")
      let lines = String(decoding: page.body, as: UTF8.self).split(separator: "\n")
      if lines.isEmpty { break }
      for line in lines {
        let json = try #require(JSONValue(parsing: String(line)).objectValue)
        names.append(try #require(json["customer_id"]?.stringValue))
        #expect(json["receipt"]?.stringValue?.hasPrefix("MII") == true)
      }
    }
    #expect(names == ["a", "b", "c"])
    let accounts = try JSONValue(parsing: await get("accounts?app=demo&after=a").body).objectValue
    #expect(accounts?["accounts"]?.arrayValue?.count == 2)
    #expect(await get("receipts?app=other").status == 400)
    #expect(await get("accounts?app=demo&limit=0").status == 400)
  }

  @Test("An advance by 0 seconds is accepted while the clock runs, and one into the past is not")
  func noAdvance() async throws {
    let machine = RunningMachine()
    let store = try AppStoreSimulator(apps: [DemoWorld.app], storage: .memory, now: { machine.now })
    func status(_ body: String) async -> Int {
      await store.respond(
        to: HTTPRequest(method: "POST", target: "/sandbox/v1/clock/advance", body: Array(body.utf8))
      ).status
    }
    #expect(await status(#"{"by": "0s"}"#) == 200)
    #expect(await status(#"{"to": "2025-12-31T23:59:59Z"}"#) == 400)
  }

  @Test("Calls are counted, and calls beyond the limit return 429 with retry-after")
  func callLimit() async throws {
    _ = await store.respond(
      to: HTTPRequest(
        method: "POST", target: "/sandbox/v1/call-limit", body: Array(#"{"perSecond": 2, "burst": 1}"#.utf8)))
    let call = HTTPRequest(method: "GET", target: "/inApps/v2/history/1")
    #expect(await store.respond(to: call).status == 401)
    let second = await store.respond(to: call)
    #expect(second.status == 429 && second.headers["retry-after"] == "1767225600500")
    #expect(
      try JSONValue(parsing: await get("calls").body).objectValue == [
        "v2/history": ["asked": 2, "limited": 1]
      ])
  }
}

/// A machine whose clock advances by a millisecond each time it is read.
private final class RunningMachine: Sendable {
  private let reads = Mutex<Int64>(0)

  var now: Instant {
    reads.withLock { reads in
      reads += 1
      return Instant(millisecondsSince1970: 1_767_225_600_000 + reads)
    }
  }
}
