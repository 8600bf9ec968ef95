import AppStore
import Entitlements
import Foundation
import JSON
import Store
import Synchronization
import TestSupport
import Testing

@testable import Ledger

@Suite("Evidence decoder")
struct EvidenceDecoderTests {
  private func evidence(
    _ kind: Evidence.Kind, _ body: [UInt8], _ verdict: Evidence.Verdict = .accepted
  ) -> Evidence {
    Evidence(
      appID: "ocean", environment: .sandbox, customerID: nil, kind: kind, source: .submission,
      receivedAt: at(50), content: EvidenceContent(hashing: body), verdict: verdict)
  }

  /// Decoding does not verify signatures, so any signature works.
  private func jws(_ payload: JSONObject) -> String {
    func part(_ object: JSONObject) -> String {
      Data(JSONValue.object(object).serialized()).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
    return "\(part(["alg": "ES256"])).\(part(payload)).\(part([:]))"
  }

  private var transaction: String {
    jws([
      "transactionId": "L1-0", "originalTransactionId": "L1", "bundleId": "com.example",
      "productId": "monthly", "type": "Auto-Renewable Subscription", "environment": "Sandbox",
      "purchaseDate": 1_800_000_000_000, "expiresDate": 1_802_592_000_000, "signedDate": 1_800_000_000_000,
    ])
  }

  @Test("A signed transaction decodes to one transaction")
  func signedTransaction() throws {
    let items = EvidenceDecoder.decode(evidence(.signedTransaction, Array(transaction.utf8)))
    guard case .transaction(let fact) = try #require(items.first) else {
      Issue.record("\(items)")
      return
    }
    #expect(items.count == 1 && fact.transactionID == "L1-0" && items[0].lineID == "L1")
  }

  @Test("A notification decodes to its documents, the ended seat claims and itself, in this order")
  func notification() throws {
    let payload = jws([
      "notificationType": "UNCLAIM_SEATS", "notificationUUID": "u1", "version": "2.0",
      "signedDate": 1_800_000_000_000,
      "data": [
        "bundleId": "com.example", "environment": "Sandbox", "signedTransactionInfo": .string(transaction),
      ],
      "unclaimInfo": [
        "bundleId": "com.example", "environment": "Sandbox", "unclaimSeatIds": ["s1", "s2"],
      ],
    ])
    let body = JSONValue.object(["signedPayload": .string(payload)]).serialized()
    let items = EvidenceDecoder.decode(evidence(.notificationV2, body))
    try #require(items.count == 3)
    guard case .transaction = items[0], case .endedSeatClaims(let claims, let endedAt) = items[1],
      case .notification(let contents) = items[2]
    else {
      Issue.record("\(items)")
      return
    }
    #expect(claims == ["s1", "s2"] && endedAt == at(0))
    #expect(contents.hasDocuments && contents.isSupported)
  }

  @Test("A receipt decodes to its purchases and the app install")
  func receipt() throws {
    let entry: JSONObject = [
      "transaction_id": "L1-0", "original_transaction_id": "L1", "product_id": "monthly", "quantity": "1",
      "purchase_date_ms": "1800000000000", "expires_date_ms": "1802592000000",
    ]
    let contents = ReceiptContents(
      receiptHash: [UInt8](repeating: 7, count: 32), creationDate: at(45),
      appInstall: .init(originalApplicationVersion: "2.0", originalPurchaseDate: at(1)),
      purchases: [.init(entry: try LegacyTransaction(json: entry), type: .autoRenewableSubscription)])
    let items = EvidenceDecoder.decode(evidence(.receiptStatement, contents.encoded))
    #expect(items.map(\.lineID) == ["L1", "app-\(at(1).millisecondsSince1970)-2.0"])
  }

  @Test("A command decodes to the same command")
  func command() {
    let command = OperatorCommand(.merge(from: "guest", into: "ana"), actor: "support")
    let stored = evidence(.operatorCommand, command.encoded(number: EvidenceID(rawValue: 1)))
    #expect(EvidenceDecoder.command(in: stored) == command)
  }

  @Test("Rejected, malformed and unsupported evidence decodes to no facts")
  func nothing() {
    let body = Array(transaction.utf8)
    #expect(EvidenceDecoder.decode(evidence(.signedTransaction, body, .rejected(reason: "X"))).isEmpty)
    #expect(EvidenceDecoder.decode(evidence(.signedTransaction, Array("no JWS".utf8))).isEmpty)
    #expect(EvidenceDecoder.decode(evidence(.appReceipt, body)).isEmpty)
    let rejected = EvidenceDecoder.decode(evidence(.notificationV1, body, .rejected(reason: "X")))
    guard case .rejectedNotification("X")? = rejected.first else {
      Issue.record("\(rejected)")
      return
    }
  }
}

@Suite("State diff")
struct StateDiffTests {
  private func facts(_ days: ClosedRange<Int64>, _ type: ProductType = .autoRenewableSubscription) throws
    -> CustomerFacts
  {
    var facts = CustomerFacts()
    facts.insert(
      try TransactionFact(
        JWSTransactionDecodedPayload(json: [
          "transactionId": .string("L1-\(days.lowerBound)"), "originalTransactionId": "L1",
          "bundleId": "com.example", "productId": "monthly", "type": .string(type.rawValue),
          "environment": "Sandbox",
          "purchaseDate": .number(JSONNumber(at(days.lowerBound).millisecondsSince1970)),
          "expiresDate": .number(JSONNumber(at(days.upperBound).millisecondsSince1970)),
          "signedDate": .number(JSONNumber(at(days.lowerBound).millisecondsSince1970)),
        ])))
    return facts
  }

  private func state(_ facts: CustomerFacts, answeredAt instant: Instant) throws -> CustomerState {
    let answers = PrecomputedAnswers(facts, in: LedgerFixture.app, from: instant)
    return CustomerState(facts: facts, answers: try EncodedAnswers(AnswerCoding.encode(answers)))
  }

  private func diff(
    _ before: CustomerState?, _ after: CustomerFacts, on day: Int64, _ cause: ChangeCause = .evidence
  ) -> StateDiff {
    StateDiff(before: before, after: after, in: LedgerFixture.app, at: at(day), cause: cause)
  }

  @Test("Equal facts need no evaluation, unless time or the catalog is the cause")
  func mustReevaluate() throws {
    let facts = try facts(40...70)
    let before = try state(facts, answeredAt: at(45))
    #expect(!diff(before, facts, on: 50).mustReevaluate)
    #expect(diff(before, facts, on: 50, .time).mustReevaluate)
    #expect(diff(before, facts, on: 50, .catalog).mustReevaluate)
    #expect(diff(nil, facts, on: 50).mustReevaluate)
  }

  @Test("A new customer's purchase is one change at the time of the write")
  func purchase() throws {
    let difference = try diff(nil, facts(40...70), on: 50)
    let changes = try difference.changes(to: difference.answers)
    #expect(changes.map(\.cause) == [.evidence])
    #expect(changes.map(\.change.effectiveAt) == [at(40)])
    #expect(changes.first?.change.after.isEntitled == true)
  }

  @Test("An expiry before the write comes first, with time as its cause")
  func expiryBefore() throws {
    let before = try state(facts(0...30), answeredAt: at(10))
    var after = before.facts
    after.merge(try facts(40...70))
    let difference = diff(before, after, on: 50)
    let changes = try difference.changes(to: difference.answers)
    #expect(changes.map(\.cause) == [.time, .evidence])
    #expect(changes.map(\.change.effectiveAt) == [at(30), at(40)])
  }

  @Test("A contradiction is new only if the state before did not have it")
  func contradiction() throws {
    let facts = try facts(40...70, .nonConsumable)
    let found = diff(nil, facts, on: 50).causedContradictions
    #expect(!found.isEmpty)
    #expect(diff(try state(facts, answeredAt: at(45)), facts, on: 50).causedContradictions.isEmpty)
    #expect(diff(nil, facts, on: 50, .ownership).causedContradictions.isEmpty)
  }
}

extension StateDiff {
  fileprivate var causedContradictions: [Contradiction] { new(among: contradictions) }
}

@Suite("Effects of writes")
struct EffectTests {
  /// Records effects instead of counting metrics.
  private final class EffectRecorder: Sendable {
    private let recorded = Mutex<[LedgerEffect]>([])
    var effects: [LedgerEffect] { recorded.withLock { $0 } }
    func record(_ effects: [LedgerEffect]) { recorded.withLock { $0 += effects } }
  }

  private let contradiction = LedgerEffect.contradictionFound(.typeDiffersFromCatalog)

  private func submission(_ fixture: LedgerFixture) throws -> Submission {
    Submission(
      appID: "ocean", customerID: "ana",
      signedTransaction: try fixture.period(40...70, ["type": "Non-Consumable"]))
  }

  @Test("A write body that runs twice records its effects once")
  func twice() async throws {
    try await LedgerFixture.run { fixture in
      let recorder = EffectRecorder()
      let ledger = fixture.makeLedger(RetryingStore(fixture.store)) { recorder.record($0) }
      _ = try await ledger.submit(submission(fixture))
      #expect(recorder.effects == [contradiction])
      _ = try await ledger.submit(submission(fixture))
      #expect(recorder.effects == [contradiction], "a duplicate has no effects")
    }
  }

  @Test("A dry run records no effects")
  func dryRun() async throws {
    try await LedgerFixture.run { fixture in
      let recorder = EffectRecorder()
      let ledger = fixture.makeLedger(fixture.store) { recorder.record($0) }
      _ = try await ledger.submit(
        Submission(
          appID: "ocean", customerID: "ana", signedTransaction: try fixture.period(40...70)))
      let request = try await ledger.ingest(
        IncomingNotification(
          appID: "ocean",
          body: JSONValue.object([
            "signedPayload": .string(
              try fixture.consumptionRequest(fixture.period(40...70), signed: 49, uuid: "u1"))
          ]).serialized(), source: .notification, receivedAt: at(49)),
        signedPayload: fixture.consumptionRequest(fixture.period(40...70), signed: 49, uuid: "u1"))
      #expect(recorder.effects == [.consumptionRequestOpened(appID: "ocean", .sandbox)])
      var scope = fixture.scope
      scope.isDryRun = true
      let call = AppleCall(
        method: AppleCall.sendConsumptionInformation, originalTransactionID: "L1", request: [:], answer: [:])
      let result = try await ledger.record(call, scope)
      #expect(result.effects.count == 1 && recorder.effects.count == 1)
      _ = try await ledger.reprocess(request.record.evidenceID, isDryRun: true)
      #expect(recorder.effects.count == 1)
      scope.isDryRun = false
      _ = try await ledger.record(call, scope)
      #expect(
        recorder.effects.last == .consumptionRequestSettled(appID: "ocean", .sandbox, .answered))
    }
  }
}
