import AppStore
import HTTP
import JSON
import SignedData
import Testing

@testable import Sandbox

/// Rotations of the certificates, revoked API keys, and documents of a later version of Apple's servers.
@Suite struct RotationTests {
  private let store: AppStoreSimulator
  private let verifier: SignedDataVerifier
  private let now = Instant(rfc3339: "2026-01-01T00:00:00Z")!

  init() throws {
    let now = now
    store = try AppStoreSimulator(apps: [DemoWorld.app], storage: .memory, now: { now })
    verifier = try SignedDataVerifier(
      anchors: .apple().adding(store.root, for: .sandbox).adding(store.secondRoot, for: .sandbox))
  }

  private func call(_ method: String, _ path: String, _ members: JSONObject = [:]) async throws -> (
    Int, JSONObject
  ) {
    let body = method == "GET" ? [] : members.serialized()
    let response = await store.respond(
      to: HTTPRequest(method: method, target: "/sandbox/v1/\(path)", body: body))
    return (response.status, (try? JSONValue(parsing: response.body).objectValue) ?? JSONObject())
  }

  private func document(_ kind: String) async throws -> String {
    let (status, json) = try await call("POST", "documents/\(kind)", ["app": "demo", "productId": "monthly"])
    #expect(status == 200)
    return try #require(json["document"]?.stringValue)
  }

  private func verify(_ jws: String) throws -> JSONObject {
    try verifier.verifyTransaction(jws, for: DemoWorld.app.identity, environments: [.sandbox]).payload.json
  }

  @Test("A rotation replaces a certificate and those below it, and documents before and after it verify")
  func rotations() async throws {
    var documents = [try await document("transaction")]
    var chain = try UnverifiedJWS(documents[0]).certificates
    for (name, kept) in [("leaf", 2), ("intermediate", 1), ("root", 0), ("root", 0), ("leaf", 2)] {
      let (status, json) = try await call("POST", "rotate", ["certificate": .string(name)])
      #expect(status == 200 && json["revoked"] == [])
      documents.append(try await document("transaction"))
      let next = try UnverifiedJWS(#require(documents.last)).certificates
      #expect(zip(chain, next).map { $0.der == $1.der } == (0..<3).map { $0 >= 3 - kept })
      #expect(
        json["chain"]?.arrayValue?.first?.objectValue?["serialNumber"]?.stringValue == next[0].serialNumber)
      chain = next
      for document in documents { _ = try verify(document) }
    }
    #expect(chain[2].der == store.root.der, "the second rotation of the root changes back")
  }

  @Test("A verifier that trusts one root rejects documents under the other one")
  func oneRoot() async throws {
    let first = try SignedDataVerifier(anchors: .apple().adding(store.root, for: .sandbox))
    _ = try await call("POST", "rotate", ["certificate": "root"])
    let jws = try await document("transaction")
    #expect(throws: VerificationError.self) {
      try first.verifyTransaction(jws, for: DemoWorld.app.identity, environments: [.sandbox])
    }
    _ = try verify(jws)
  }

  @Test("verifyReceipt accepts receipts under both roots after a rotation of the root")
  func receipts() async throws {
    var receipts = [try await document("app-receipt")]
    _ = try await call("POST", "rotate", ["certificate": "root"])
    receipts.append(try await document("app-receipt"))
    for receipt in receipts {
      let body: JSONObject = ["receipt-data": .string(receipt)]
      let response = await store.respond(
        to: HTTPRequest(method: "POST", target: "/verifyReceipt", body: body.serialized()))
      #expect(try JSONValue(parsing: response.body).objectValue?["status"] == 0)
    }
  }

  @Test("The chain and its revocations survive a restart", arguments: ["leaf", "intermediate"])
  func revocation(name: String) async throws {
    let old = try await UnverifiedJWS(document("transaction")).certificates
    let (status, json) = try await call("POST", "rotate", ["certificate": .string(name), "revoke": true])
    #expect(status == 200)
    let position = name == "leaf" ? 0 : 1
    let revoked = json["revoked"]?.arrayValue?.compactMap { $0.objectValue?["serialNumber"]?.stringValue }
    #expect(revoked == [old[position].serialNumber])
    let chain = try await UnverifiedJWS(document("transaction")).certificates
    let again = try SandboxAuthority(directory: await store.files, now: now)
    #expect(again.chain.map(\.der) == chain.map(\.der))
    for (certificate, issuer, isRevoked) in [
      (old[position], old[position + 1], true), (chain[position], chain[position + 1], false),
      (old[0], old[1], name == "leaf"),
    ] {
      let request = HTTPRequest(
        method: "POST", target: "/ocsp", body: try OCSPRequest(for: certificate, issuer: issuer).der)
      let response = try OCSPResponse(
        response: await store.respond(to: request).body, for: certificate, issuer: issuer, at: now)
      #expect(response.status == (isRevoked ? .revoked(now) : .good))
    }
  }

  @Test(
    "An order that the sandbox cannot follow is rejected",
    arguments: [
      ["certificate": "root", "revoke": true], ["certificate": "stem"], [:],
      ["certificate": "leaf", "revoked": true],
    ] as [JSONObject])
  func rejected(members: JSONObject) async throws {
    #expect(try await call("POST", "rotate", members).0 == 400)
    #expect(try await call("GET", "rotate").0 == 405)
  }

  @Test("A revoked API key is rejected, also while no key is registered")
  func keys() async throws {
    func status() async -> Int {
      await store.respond(
        to: TestToken().request("GET", "/inApps/v1/notifications/test/x", at: now)
      ).status
    }
    #expect(await status() != 401)
    _ = try await call("POST", "revoke-key", ["keyId": "another"])
    #expect(await status() != 401)
    _ = try await call("POST", "revoke-key", ["keyId": "K"])
    #expect(await status() == 401)
  }

  @Test("Documents have unknown members and values while that is set, and verify")
  func future() async throws {
    let jws = try await document("transaction")
    #expect(try verify(jws)["futureText"] == nil)
    _ = try await call("POST", "future-documents", ["app": "demo", "fields": true, "types": true])
    let changed = try await verify(document("transaction"))
    #expect(changed["futureNumber"]?.int64Value == 9_007_199_254_740_993)
    #expect(changed["type"] == "Future Purchase Type" && changed["futureNull"] == .null)
    let notification = try await UnverifiedJWS(document("notification")).payload
    #expect(notification["notificationType"] == "FUTURE_NOTIFICATION" && notification["futureFlag"] == true)
    #expect(notification["data"]?.objectValue?["futureList"]?.arrayValue?.count == 3)
    for kind in ["renewal-info", "app-transaction", "retention-message-request"] {
      #expect(try await UnverifiedJWS(document(kind)).payload["futureObject"] != nil, "\(kind)")
    }
    _ = try await call("POST", "future-documents", ["app": "demo", "fields": false])
    let rest = try await verify(document("transaction"))
    #expect(rest["futureText"] == nil && rest["transactionReason"] == "FUTURE_REASON")
  }
}
