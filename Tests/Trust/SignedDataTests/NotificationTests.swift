import AppStore
import JSON
import SignedData
import TestSupport
import Testing

@Suite struct NotificationTests {
  private let chain: TestChain
  private let verifier: SignedDataVerifier

  init() throws {
    chain = try TestChain()
    verifier = try SignedDataVerifier(
      anchors: try TrustAnchors.apple().adding(chain.root, for: .sandbox).adding(chain.root, for: .production)
    )
  }

  private func signed(_ payload: JSONObject) throws -> String { try chain.signer.sign(payload: payload) }

  private func notification(_ part: String, _ content: JSONObject, type: String = "SUBSCRIBED") -> JSONObject
  {
    [
      "notificationType": .string(type), "notificationUUID": "1", "version": "2.0",
      "signedDate": .number(JSONNumber(TestChain.middle.millisecondsSince1970)),
      .init(stringLiteral: part): .object(content),
    ]
  }

  private func data(
    bundle: String = "com.example", environment: String = "Sandbox", inside: JSONObject = [:]
  ) -> JSONObject {
    var data: JSONObject = ["bundleId": .string(bundle), "environment": .string(environment)]
    for (name, value) in inside { data[name] = value }
    return data
  }

  private func refusal(_ payload: JSONObject, environments: Set<Environment> = [.sandbox]) throws
    -> NotificationRejection?
  {
    let document = try signed(payload)
    do throws(NotificationRejection) {
      _ = try verifier.verifyNotification(document, for: exampleApp, environments: environments)
      return nil
    } catch { return error }
  }

  private var renewalInfo: JSONObject {
    [
      "originalTransactionId": "1", "autoRenewStatus": 1, "environment": "Sandbox",
      "signedDate": .number(JSONNumber(TestChain.middle.millisecondsSince1970)),
    ]
  }

  @Test("A notification is accepted with the documents inside it")
  func accepted() throws {
    let inside: JSONObject = [
      "signedTransactionInfo": .string(try signed(TestChain.transaction())),
      "signedRenewalInfo": .string(try signed(renewalInfo)),
    ]
    let document = try signed(notification("data", data(inside: inside)))
    let verified = try verifier.verifyNotification(document, for: exampleApp, environments: [.sandbox])
    #expect(verified.notification.payload.notificationType == .subscribed)
    #expect(verified.transaction?.payload.transactionId == "1")
    #expect(verified.renewalInfo?.payload.autoRenewStatus == .on)
    #expect(verified.appTransaction == nil)
  }

  @Test("Known signatures are not calculated again; all else is checked")
  func knownSignatures() throws {
    let document = try signed(
      notification(
        "data", data(inside: ["signedTransactionInfo": .string(try signed(TestChain.transaction()))])))
    func verify(
      _ document: String, _ verifier: SignedDataVerifier, environments: Set<Environment> = [.sandbox]
    ) throws -> VerifiedNotification {
      try verifier.verifyNotification(
        document, for: exampleApp, environments: environments, hasKnownSignatures: true)
    }
    // Another signature of the same length.
    let end = document.lastIndex(of: ".").map { document.index($0, offsetBy: 5) } ?? document.endIndex
    let other =
      document[..<end] + (document[end] == "A" ? "B" : "A") + document[document.index(after: end)...]
    // A signer that the verifier has not seen is verified as a whole.
    #expect(throws: NotificationRejection.self) { try verify(String(other), verifier) }
    #expect(try verify(document, verifier).transaction?.payload.transactionId == "1")
    #expect(try verify(String(other), verifier).transaction?.payload.transactionId == "1")
    #expect(throws: NotificationRejection.self) {
      try verify(document, verifier, environments: [.production])
    }
    let stranger = try TestChain(name: "Other")
    #expect(throws: NotificationRejection.self) {
      try verify(stranger.signer.sign(payload: notification("data", data())), verifier)
    }
  }

  @Test("A document inside a verified notification must be signed itself")
  func forgedInside() throws {
    let other = try TestChain(name: "Other")
    let cases: [(JSONObject, SignedDocumentKind, String)] = [
      (
        ["signedTransactionInfo": .string(try other.signer.sign(payload: TestChain.transaction()))],
        .transaction, "UNTRUSTED_ROOT"
      ),
      (
        ["signedTransactionInfo": .string(try signed(TestChain.transaction(bundle: "com.other")))],
        .transaction, "WRONG_BUNDLE"
      ),
      (
        ["signedTransactionInfo": .string(try signed(TestChain.transaction(environment: "Production")))],
        .transaction, "WRONG_ENVIRONMENT"
      ),
      (["signedRenewalInfo": "not.signed"], .renewalInfo, "NOT_A_JWS"),
    ]
    for (inside, kind, reason) in cases {
      let found = try #require(
        try refusal(notification("data", data(inside: inside)), environments: [.sandbox, .production]))
      #expect((found.document, found.error.reason) == (kind, reason))
    }
  }

  @Test("App and environment come from the part that the notification type requires")
  func parts() throws {
    let appTransaction: JSONObject = [
      "bundleId": "com.example", "receiptType": "Sandbox",
      "receiptCreationDate": .number(JSONNumber(TestChain.middle.millisecondsSince1970)),
    ]
    let consent = data(
      inside: ["signedAppTransactionInfo": .string(try signed(appTransaction))])
    #expect(try refusal(notification("appData", consent, type: "RESCIND_CONSENT")) == nil)
    let number: JSONObject = ["appAppleId": 1234]
    for part in ["data", "summary", "appData", "unclaimInfo"] {
      #expect(try refusal(notification(part, data())) == nil)
      #expect(try refusal(notification(part, data(bundle: "com.other")))?.error.reason == "WRONG_BUNDLE")
      #expect(
        try refusal(notification(part, data(environment: "Production", inside: number)))?.error.reason
          == "WRONG_ENVIRONMENT")
      #expect(
        try refusal(notification(part, data(environment: "Moon")))?.error.reason == "WRONG_ENVIRONMENT")
      #expect(
        try refusal(notification(part, ["bundleId": "com.example"]))?.error
          == .missingField("\(part).environment"))
    }
  }

  @Test("A part that is unknown to this version names app and environment, too")
  func unknownPart() throws {
    for type in ["SUBSCRIBED", "TELEPORTED"] {
      #expect(try refusal(notification("novelty", data(), type: type)) == nil)
      #expect(
        try refusal(notification("novelty", data(bundle: "com.other"), type: type))?.error.reason
          == "WRONG_BUNDLE")
      #expect(
        try refusal(notification("novelty", ["environment": "Sandbox"], type: type))?.error
          == .missingField("bundleId"))
      for environment in ["Production", "Moon"] {
        let part = data(environment: environment, inside: ["appAppleId": 1234])
        #expect(
          try refusal(notification("novelty", part, type: type))?.error.reason == "WRONG_ENVIRONMENT")
      }
    }
    let production = data(environment: "Production", inside: ["appAppleId": 99])
    #expect(
      try refusal(notification("novelty", production, type: "TELEPORTED"), environments: [.production])?.error
        == .wrongApp(99))
  }

  @Test("A notification that names no environment is accepted only if its type is unknown to this version")
  func unnamed() throws {
    let novelty = notification("novelty", ["words": 1], type: "TELEPORTED")
    let document = try signed(novelty)
    let verified = try verifier.verifyNotification(document, for: exampleApp, environments: [.sandbox])
    #expect(verified.notification.payload.origin == .unnamed)
    #expect(try refusal(notification("novelty", ["words": 1]))?.error == .missingField("data"))
    var withoutType = novelty
    withoutType["notificationType"] = nil
    #expect(try refusal(withoutType)?.error == .missingField("data"))
    // A signed document of another kind.
    #expect(try refusal(TestChain.transaction(bundle: "com.other"))?.error == .missingField("data"))
    let stranger = try TestChain(name: "Other")
    #expect(throws: NotificationRejection.self) {
      try verifier.verifyNotification(
        stranger.signer.sign(payload: novelty), for: exampleApp, environments: [.sandbox])
    }
    let sandboxOnly = try SignedDataVerifier(
      anchors: try TrustAnchors.apple().adding(chain.root, for: .sandbox))
    #expect(throws: NotificationRejection.self) {
      try sandboxOnly.verifyNotification(document, for: exampleApp, environments: [.production])
    }
  }

  @Test("An external purchase token's id names its environment; Production requires the App Store id")
  func externalPurchaseToken() throws {
    func token(_ id: String, app: JSONValue) -> JSONObject {
      let token: JSONObject = [
        "externalPurchaseId": .string(id), "bundleId": "com.example", "appAppleId": app,
      ]
      return notification("externalPurchaseToken", token, type: "EXTERNAL_PURCHASE_TOKEN")
    }
    #expect(try refusal(token("SANDBOX_1", app: nil)) == nil)
    #expect(try refusal(token("1", app: 1234))?.error.reason == "WRONG_ENVIRONMENT")
    #expect(try refusal(token("1", app: 1234), environments: [.production]) == nil)
    #expect(try refusal(token("1", app: 99), environments: [.production])?.error == .wrongApp(99))
    #expect(
      try refusal(token("1", app: nil), environments: [.production])?.error == .missingField("appAppleId"))
  }

  @Test("A retention message request is checked by the App Store id")
  func realtimeRequest() throws {
    func request(_ environment: String, app: Int64) throws -> String {
      try signed([
        "originalTransactionId": "1", "userLocale": "en-US", "requestIdentifier": "r",
        "appAppleId": .number(JSONNumber(app)), "environment": .string(environment),
        "signedDate": .number(JSONNumber(TestChain.middle.millisecondsSince1970)),
      ])
    }
    let accepted = try verifier.verifyRealtimeRequest(
      request("Production", app: 1234), for: exampleApp, environments: [.production])
    #expect(accepted.payload.userLocale == "en-US")
    #expect(throws: VerificationError.wrongApp(5)) {
      try verifier.verifyRealtimeRequest(
        request("Production", app: 5), for: exampleApp, environments: [.production])
    }
    _ = try verifier.verifyRealtimeRequest(
      request("Sandbox", app: 5), for: exampleApp, environments: [.sandbox])
  }

  @Test(
    "The mock notifications of Apple's server libraries get the expected results",
    .enabled(if: TestData.folder != nil, "ENTITLED_TESTDATA is not there"))
  func published() throws {
    let root = try TestData.bytes("apple-asl/certs/testCA.der")
    let verifier = try SignedDataVerifier(anchors: .apple().adding(Certificate(der: root), for: .sandbox))
    func document(_ name: String) throws -> String {
      let text = String(decoding: try TestData.bytes("apple-asl/mock_signed_data/\(name)"), as: UTF8.self)
      return String(text.filter { !$0.isWhitespace })
    }
    let test = try verifier.verifyNotification(
      document("testNotification"), for: exampleApp, environments: [.sandbox])
    #expect(test.notification.payload.notificationType == .test)
    // This one names another app, no environment and no date; the date is asked for first.
    do throws(NotificationRejection) {
      let wrong = (try? document("wrongBundleId")) ?? ""
      _ = try verifier.verifyNotification(wrong, for: exampleApp, environments: [.sandbox])
      Issue.record("a notification for another app was accepted")
    } catch { #expect(error.error == .missingField("signedDate")) }
  }
}
