import AppStore
import Entitlements
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// Consent and consumption requests as evidence.
@Suite struct ConsumptionTests {
  @Test("Repeated consent changes nothing, and replay restores it")
  func consent() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let given = try await fixture.ledger.recordConsent(true, of: "ana", fixture.scope)
      #expect(given.consent?.isGiven == true && given.consent?.evidenceID == given.evidenceID)
      let still = try await fixture.ledger.recordConsent(true, of: "ana", fixture.scope)
      #expect(still.consent == given.consent && still.evidenceID == nil)
      let withdrawn = try await fixture.ledger.recordConsent(false, of: "ana", fixture.scope)
      #expect(withdrawn.consent?.isGiven == false)
      #expect(
        try await fixture.events().suffix(2).map(\.event.change.kind) == [.consentGiven, .consentWithdrawn])
      #expect(try await fixture.events().last?.event.actor == "support")
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Merging moves the consent; erasing deletes it")
  func identity() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70), for: "guest")
      _ = try await fixture.ledger.recordConsent(true, of: "guest", fixture.scope)
      _ = try await fixture.ledger.merge("guest", into: "ana", fixture.scope)
      let known = try await fixture.ledger.recordConsent(true, of: "ana", fixture.scope)
      #expect(known.consent?.isGiven == true && known.evidenceID == nil)
      #expect(try await fixture.replayDifferences().isEmpty)
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      #expect(try await fixture.store.snapshot { try $0.consent(of: ana) } == nil)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A consumption request stays open until its own transaction is answered")
  func answered() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      try await fixture.requestConsumption(fixture.period(40...70), signed: 49)
      let due = try #require(try await fixture.ledger.dueConsumptionRequests(limit: 9).first)
      #expect(due.owners == ["ana"] && !due.isConsented && due.purchase?.transactionID == "L1-40")
      #expect(due.request.answerBy == at(49).advanced(byMilliseconds: 12 * 3_600_000))
      #expect(try await fixture.events().last?.event.change.kind == .refundRequested)

      for (transaction, errorCode) in [("L1-10", nil), ("L1-40", 4_000_035), ("L1-40", nil as Int64?)] {
        #expect(try await fixture.openRequests() == 1)
        _ = try await fixture.ledger.record(
          AppleCall(
            method: AppleCall.sendConsumptionInformation, originalTransactionID: "L1",
            transactionID: transaction, request: [:],
            answer: errorCode.map { ["errorCode": .number(JSONNumber($0))] } ?? [:]), fixture.scope)
      }
      #expect(try await fixture.openRequests() == 0)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A request about a non-renewing subscription has the customer's purchases that add up with it")
  func stacked() async throws {
    try await LedgerFixture.run { fixture in
      func season(_ day: Int64, _ line: String, _ product: String = "season") throws -> String {
        try fixture.period(
          day...70, line: line,
          ["productId": .string(product), "type": "Non-Renewing Subscription", "expiresDate": .null])
      }
      _ = try await fixture.submit(season(40, "L1"))
      _ = try await fixture.submit(season(45, "L2"))
      _ = try await fixture.submit(season(46, "L3", "other"))
      _ = try await fixture.submit(season(41, "L4"), for: "ben")
      try await fixture.requestConsumption(season(45, "L2"), signed: 49)
      let due = try #require(try await fixture.ledger.dueConsumptionRequests(limit: 9).first)
      #expect(due.stacked.transactions.map(\.originalTransactionID) == ["L1", "L2"])
      var waiting = due.request
      waiting.dueAt = at(51)
      try await fixture.ledger.update(waiting, ifUnchanged: due)
      #expect(try await fixture.ledger.dueConsumptionRequests(limit: 9).isEmpty)
    }
  }

  @Test("Consent during processing keeps the consumption request due")
  func consentMeanwhile() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      try await fixture.requestConsumption(fixture.period(40...70), signed: 49)
      let due = try #require(try await fixture.ledger.dueConsumptionRequests(limit: 9).first)
      var waiting = due.request
      waiting.error = "NO_CONSENT"
      waiting.dueAt = at(51)
      _ = try await fixture.ledger.recordConsent(true, of: "ana", fixture.scope)
      try await fixture.ledger.update(waiting, ifUnchanged: due)
      let still = try #require(try await fixture.ledger.dueConsumptionRequests(limit: 9).first)
      #expect(still.isConsented && still.request.error.isEmpty)
      try await fixture.ledger.update(waiting, ifUnchanged: still)
      #expect(try await fixture.ledger.dueConsumptionRequests(limit: 9).isEmpty)
    }
  }

  @Test(
    "A purchase that gains an owner makes its consumption request due",
    arguments: ["submit", "link", "token", "merge", "transfer"])
  func claimed(by way: String) async throws {
    try await LedgerFixture.run { fixture in
      let token = "0b1c2d3e-0000-4000-8000-000000000001"
      let purchase = try fixture.period(40...70, ["appAccountToken": .string(token)])
      let ledger = fixture.ledger
      if way == "merge" || way == "transfer" { _ = try await fixture.submit(purchase, for: "guest") }
      if way == "merge" { _ = try await fixture.submit(fixture.period(40...70, line: "L2")) }
      try await fixture.requestConsumption(purchase, signed: 49)
      let due = try #require(try await ledger.dueConsumptionRequests(limit: 9).first)
      var waiting = due.request
      waiting.dueAt = at(51)
      try await ledger.update(waiting, ifUnchanged: due)
      _ = try await ledger.recordConsent(true, of: "ana", fixture.scope)
      #expect(try await ledger.dueConsumptionRequests(limit: 9).isEmpty)
      switch way {
      case "submit": _ = try await fixture.submit(purchase)
      case "link": _ = try await ledger.move("L1", to: "ana", policy: .keep, fixture.scope)
      case "token": _ = try await ledger.registerToken(token, of: "ana", fixture.scope)
      case "merge": _ = try await ledger.merge("guest", into: "ana", fixture.scope)
      default: _ = try await ledger.move("L1", from: "guest", to: "ana", policy: .transfer, fixture.scope)
      }
      let claimed = try await ledger.dueConsumptionRequests(limit: 9)
      #expect(claimed.map(\.isConsented) == [true])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A missed consumption request is one event of the owner")
  func missed() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      try await fixture.requestConsumption(fixture.period(40...70), signed: 49)
      let due = try #require(try await fixture.ledger.dueConsumptionRequests(limit: 9).first)
      var missed = due.request
      missed.settle(.missed, error: "NO_CONSENT", at: at(50))
      for _ in 0..<2 { try await fixture.ledger.update(missed, ifUnchanged: due) }
      let told = try await fixture.events().filter { $0.event.change.kind == .refundRequestMissed }
      #expect(told.map(\.event.change.effectiveAt) == [due.request.answerBy])
      #expect(told.map(\.event.customer.customerID) == ["ana"])
    }
  }

  @Test("After a clock that was ahead is set back, a request that was missed too early is open again")
  func missedAheadOfTime() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      try await fixture.requestConsumption(fixture.period(40...70), signed: 50)
      fixture.clock.set(at(80))
      let due = try #require(try await fixture.ledger.dueConsumptionRequests(limit: 9).first)
      var missed = due.request
      missed.settle(.missed, error: "NO_CONSENT", at: at(80))
      try await fixture.ledger.update(missed, ifUnchanged: due)
      let clock = ServiceClock(now: { [clock = fixture.clock] in clock.now })
      // Its deadline has passed by this clock.
      try await fixture.ledger.reopenConsumptionRequests(by: clock, maxPause: 0)
      #expect(try await fixture.openRequests() == 0)
      fixture.clock.set(at(50))
      try await fixture.ledger.reopenConsumptionRequests(by: clock, maxPause: 0)
      let again = try #require(try await fixture.ledger.dueConsumptionRequests(limit: 9).first).request
      #expect(again.state == .open && again.settledAt == nil && again.error == "NO_CONSENT")
    }
  }

  @Test("A consumption request that was missed before the end of access does not give access back")
  func missedBeforeTheEnd() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      try await fixture.requestConsumption(fixture.period(40...70), signed: 49)
      fixture.clock.set(at(80))
      try await fixture.ledger.advance(to: at(80))
      let due = try #require(try await fixture.ledger.dueConsumptionRequests(limit: 9).first)
      var missed = due.request
      missed.settle(.missed, error: "NO_CONSENT", at: at(80))
      try await fixture.ledger.update(missed, ifUnchanged: due)
      let last = try #require(try await fixture.events().last?.event.change)
      #expect(last.kind == .refundRequestMissed && last.effectiveAt < at(70))
      #expect(!last.before.isEntitled && !last.after.isEntitled)
    }
  }

  @Test("Apple's decision about the refund settles the request", arguments: ["REFUND", "REFUND_DECLINED"])
  func decided(type: String) async throws {
    try await LedgerFixture.run { fixture in
      let period = try fixture.period(40...70)
      _ = try await fixture.submit(period)
      try await fixture.requestConsumption(period, signed: 48)
      try await fixture.notify(type, signed: 47, period)
      #expect(try await fixture.openRequests() == 1, "a decision before the request")
      try await fixture.notify(type, signed: 49, fixture.period(10...40))
      #expect(try await fixture.openRequests() == 1, "a decision about another transaction")
      try await fixture.notify(type, signed: 50, period)
      #expect(try await fixture.openRequests() == 0)
      var query = ConsumptionRequestFilter(appID: "ocean", limit: 9)
      query.state = .decided
      let decided = try await fixture.store.snapshot { [query] in try $0.consumptionRequests(query) }
      #expect(decided.count == 1)
    }
  }

  @Test("A request that arrives after its refund is not open")
  func decidedBefore() async throws {
    try await LedgerFixture.run { fixture in
      let refund = ["revocationDate": JSONValue.number(JSONNumber(at(49).millisecondsSince1970))]
      let refunded = try fixture.period(40...70, signed: 49, JSONObject(refund.map { ($0, $1) }))
      try await fixture.notify("REFUND", signed: 49, refunded)
      try await fixture.requestConsumption(fixture.period(40...70), signed: 48)
      #expect(try await fixture.openRequests() == 0)
    }
  }

  @Test(
    "A request that arrives after Apple declined its refund is not open",
    arguments: [(Int64(49), "L1-40", 0), (47, "L1-40", 1), (49, "L1-10", 1)])
  func declinedBefore(decided: Int64, transaction: String, open: Int) async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let about = try fixture.period(transaction == "L1-40" ? 40...70 : 10...40)
      try await fixture.notify("REFUND_DECLINED", signed: decided, about)
      try await fixture.requestConsumption(fixture.period(40...70), signed: 48)
      #expect(try await fixture.openRequests() == open)
      #expect(try await fixture.events().last?.event.change.kind == .refundRequested)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A document with the refund settles the request without a notification about the refund")
  func refundedByDocument() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      try await fixture.requestConsumption(fixture.period(40...70), signed: 48)
      for (revoked, signed, open) in [(47, 48, 1), (49, 50, 0)] as [(Int64, Int64, Int)] {
        let refunded = try fixture.period(
          40...70, signed: signed, ["revocationDate": JSONValue(at(revoked))])
        _ = try await fixture.submit(refunded)
        #expect(try await fixture.openRequests() == open)
      }
      #expect(try await fixture.requests(.decided) == 1)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test(
    "A request after the decision about the one before is another one, in each order of arrival",
    arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
  func askedAgain(order: [Int]) async throws {
    try await LedgerFixture.run { fixture in
      let period = try fixture.period(40...70)
      _ = try await fixture.submit(period)
      let all = [
        ("CONSUMPTION_REQUEST", at(49)), ("REFUND_DECLINED", at(49, hours: 2)),
        ("CONSUMPTION_REQUEST", at(49, hours: 5)),
      ]
      for index in order { try await fixture.ingest(all[index].0, at: all[index].1, period) }
      #expect(try await fixture.openRequests() == 1)
      #expect(try await fixture.requests(.decided) == 1)
      let asked = try await fixture.events().filter { $0.event.change.kind == .refundRequested }
      #expect(asked.count == 2)
      let due = try await fixture.ledger.dueConsumptionRequests(limit: 9)
      #expect(due.map(\.request.requestedAt) == [at(49, hours: 5)])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test(
    "A request of version 1 is about the latest transaction of the purchase, and the same one of version 2 repeats it"
  )
  func version1() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let purchases = [Int64(10), 40].map { day -> JSONValue in
        [
          "original_transaction_id": "L1", "transaction_id": .string("L1-\(day)"), "product_id": "monthly",
          "purchase_date_ms": JSONValue(at(day)),
        ]
      }
      let json: JSONObject = [
        "notification_type": "CONSUMPTION_REQUEST", "original_transaction_id": "L1",
        "unified_receipt": ["latest_receipt_info": .array(purchases)],
      ]
      let incoming = IncomingNotification(
        appID: "ocean", body: json.serialized(), source: .notification, receivedAt: at(49))
      _ = try await fixture.ledger.recordV1(
        incoming, ResponseBodyV1(json: json), in: .sandbox, state: .applied, reason: "")
      try await fixture.ingest("CONSUMPTION_REQUEST", at: at(49), fixture.period(40...70))
      let due = try await fixture.ledger.dueConsumptionRequests(limit: 9)
      #expect(due.map(\.request.transactionID) == ["L1-40"])
    }
  }

  @Test("RESCIND_CONSENT is an event of each customer of the app install")
  func rescinded() async throws {
    try await LedgerFixture.run { fixture in
      let install = ["appTransactionId": JSONValue.string("704")] as JSONObject
      _ = try await fixture.submit(fixture.period(40...70, install))
      _ = try await fixture.submit(fixture.period(0...30, line: "L2", install))
      _ = try await fixture.submit(fixture.period(40...70, line: "L3"), for: "ben")
      try await fixture.notify("RESCIND_CONSENT", signed: 49, appInstall: "704")
      let events = try await fixture.events().filter { $0.event.change.kind == .consentRescinded }
      #expect(events.map(\.event.customer.customerID) == ["ana"])
      #expect(events.map(\.event.change.effectiveAt) == [at(49)])
      #expect(try fixture.facts()?.appTransactions.map(\.consentRescindedAt) == [at(49)])
      let answer = evaluate(
        try #require(try fixture.facts()), entitlement: "pro", in: LedgerFixture.app, at: at(50))
      #expect(answer.isEntitled, "the default is to notify")
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A second notification of one request opens no second request; a later request does")
  func repeatedRequest() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      for (uuid, day) in [("a", Int64(48)), ("b", 48), ("c", 49)] {
        try await fixture.requestConsumption(fixture.period(40...70), signed: day, uuid: uuid)
      }
      #expect(try await fixture.openRequests() == 2)
      _ = try await fixture.ledger.recordConsent(true, of: "ana", fixture.scope)
      #expect(try await fixture.ledger.dueConsumptionRequests(limit: 9).map(\.isConsented) == [true, true])
    }
  }
}

extension LedgerFixture {
  /// Ingests a consumption request about a purchase.
  fileprivate func requestConsumption(_ transaction: String, signed: Int64, uuid: String = "ask") async throws
  {
    let payload = try consumptionRequest(transaction, signed: signed, uuid: uuid)
    let body = JSONValue.object(["signedPayload": .string(payload)]).serialized()
    _ = try await ledger.ingest(
      IncomingNotification(appID: "ocean", body: body, source: .notification, receivedAt: clock.now),
      signedPayload: payload)
  }

  /// Ingests a notification about a transaction, with the time as its UUID.
  fileprivate func ingest(_ type: String, at instant: Instant, _ transaction: String) async throws {
    let payload = try sign([
      "notificationType": .string(type), "notificationUUID": .string(instant.description), "version": "2.0",
      "signedDate": JSONValue(instant),
      "data": [
        "bundleId": "com.example", "environment": "Sandbox", "signedTransactionInfo": .string(transaction),
      ],
    ])
    let body = JSONValue.object(["signedPayload": .string(payload)]).serialized()
    _ = try await ledger.ingest(
      IncomingNotification(appID: "ocean", body: body, source: .notification, receivedAt: clock.now),
      signedPayload: payload)
  }

  fileprivate func openRequests() async throws -> Int { try await requests(.open) }

  fileprivate func requests(_ state: ConsumptionRequestRecord.State) async throws -> Int {
    var query = ConsumptionRequestFilter(appID: "ocean", limit: 9)
    query.state = state
    return try await store.snapshot { [query] in try $0.consumptionRequests(query) }.count
  }
}
