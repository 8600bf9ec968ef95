import AppStore
import Entitlements
import FamilySharing
import JSON
import Ledger
import Store
import TestSupport
import Testing

/// Seats of purchases whose invitations the developer sends.
@Suite struct SeatTests {
  private static func team(_ quantity: Int64, revoked: Int64? = nil) -> JSONObject {
    var seats: JSONObject = ["invitationManagement": "DEVELOPER"]
    if let revoked { seats["revokedSeatQuantity"] = .number(JSONNumber(revoked)) }
    return ["quantity": .number(JSONNumber(quantity)), "multiSeatInfo": .object(seats)]
  }

  private static func claim(
    _ fixture: LedgerFixture, _ customerID: String?, _ request: String, _ claimID: String? = nil
  ) async throws(LedgerError) -> CommandResult {
    try await fixture.ledger.claimSeat(
      of: "L1", for: customerID, request: request, seatClaimID: claimID, fixture.scope)
  }

  @Test("A seat grants its holder the purchase's entitlements until it is released")
  func claimAndRelease() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(2)), for: "boss")
      let claimed = try await Self.claim(fixture, "ana", "r1")
      let seat = try #require(claimed.seat)
      #expect(claimed.customer?.customerID == "ana")
      #expect(try fixture.facts()?.transactions.first?.ownership == .assigned)
      #expect(try fixture.facts()?.transactions.first?.originalTransactionID == seat.seatID)
      #expect(claimed.events.map(\.event.change.after.isEntitled) == [true])
      let released = try await fixture.ledger.releaseSeat(seat.seatID, of: "L1", fixture.scope)
      #expect(released.seat?.releasedAt == at(50))
      #expect(released.events.map(\.event.change.after.isEntitled) == [false])
      let changes = (claimed.events + released.events).map(\.event.change)
      #expect(changes.map(\.kind) == [.started, .ended])
      #expect(changes.map(\.subject?.originalTransactionID) == [seat.seatID, seat.seatID])
      let again = try await fixture.ledger.releaseSeat(seat.seatID, of: "L1", fixture.scope)
      #expect(again.evidenceID == nil)
      #expect(try fixture.facts(of: "boss")?.transactions.first?.ownership == .purchased)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Concurrent claims get at most the seats bought, and the others an error with the counts")
  func concurrency() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(5)), for: "boss")
      let outcomes = await withTaskGroup(of: Result<CommandResult, LedgerError>.self) { group in
        for number in 0..<40 {
          group.addTask {
            do throws(LedgerError) {
              return .success(try await Self.claim(fixture, "member-\(number)", "r\(number)"))
            } catch {
              return .failure(error)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      let errors = Set(
        outcomes.compactMap { outcome in
          if case .failure(let error) = outcome { error } else { nil }
        })
      #expect(outcomes.count { (try? $0.get()) != nil } == 5)
      #expect(errors == [.noSeatLeft(originalTransactionID: "L1", bought: 5, held: 5)])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("The same request identifier or customer has one seat")
  func idempotent() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(3)), for: "boss")
      let first = try await Self.claim(fixture, "ana", "r1")
      #expect(try await Self.claim(fixture, "ana", "r1").seat == first.seat)
      #expect(try await Self.claim(fixture, "ana", "r2").seat == first.seat)
      #expect(try await Self.claim(fixture, "ben", "r3").seat != first.seat)
    }
  }

  @Test("A seat claimed without a customer can be linked to one customer later")
  func associate() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(3)), for: "boss")
      let seat = try #require(await Self.claim(fixture, nil, "r1").seat)
      let ledger = fixture.ledger
      let associated = try await ledger.associateSeat(seat.seatID, of: "L1", with: "ana", fixture.scope)
      #expect(associated.customer?.customerID == "ana")
      #expect(try fixture.facts()?.transactions.count == 1)
      #expect(
        try await ledger.associateSeat(seat.seatID, of: "L1", with: "ana", fixture.scope).evidenceID == nil)
      await #expect(throws: LedgerError.seatTaken(seat.seatID)) {
        try await ledger.associateSeat(seat.seatID, of: "L1", with: "ben", fixture.scope)
      }
      await #expect(throws: LedgerError.unknownSeat("seat-99")) {
        try await ledger.associateSeat("seat-99", of: "L1", with: "ben", fixture.scope)
      }
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Claiming fails without seats, with Apple's invitations, and for the purchaser")
  func refused() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70), for: "boss")
      await #expect(throws: LedgerError.noSeats(.noSeats, originalTransactionID: "L1")) {
        try await Self.claim(fixture, "ana", "r1")
      }
      let byApple: JSONObject = ["quantity": 4, "multiSeatInfo": ["invitationManagement": "APPLE"]]
      _ = try await fixture.submit(fixture.period(40...70, signed: 41, byApple), for: "boss")
      await #expect(throws: LedgerError.noSeats(.invitedByApple, originalTransactionID: "L1")) {
        try await Self.claim(fixture, "ana", "r1")
      }
      _ = try await fixture.submit(fixture.period(40...70, signed: 42, Self.team(4)), for: "boss")
      await #expect(throws: LedgerError.alreadyPurchaser(originalTransactionID: "L1")) {
        try await Self.claim(fixture, "boss", "r1")
      }
      await #expect(throws: LedgerError.unknownPurchase(originalTransactionID: "L9")) {
        try await fixture.ledger.claimSeat(of: "L9", for: "ana", request: "r1", fixture.scope)
      }
    }
  }

  @Test("A refund of seats ends the latest claims, never the purchaser's access")
  func refundOfSeats() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(2)), for: "boss")
      let first = try #require(try await Self.claim(fixture, "ana", "r1").seat)
      fixture.clock.set(at(51))
      _ = try await Self.claim(fixture, "ben", "r2")
      fixture.clock.set(at(52))
      _ = try await fixture.submit(
        fixture.period(40...70, signed: 52, Self.team(2, revoked: 1)), for: "boss")
      func isEntitled(_ customerID: String) throws -> Bool {
        evaluate(
          try fixture.facts(of: customerID) ?? CustomerFacts(), entitlement: "pro", in: LedgerFixture.app,
          at: at(53)
        ).isEntitled
      }
      #expect(try isEntitled("boss") && isEntitled("ana"))
      #expect(try !isEntitled("ben"))
      fixture.clock.set(at(53))
      let released = try await fixture.ledger.releaseSeat(first.seatID, of: "L1", fixture.scope).events
      #expect(released.map(\.event.customer.customerID) == ["ana", "ben"])
      #expect(released.map(\.event.change.kind) == [.ended, .started])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A waiting claim that gets a seat by Apple's document begins access")
  func regained() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(2)), for: "boss")
      _ = try await Self.claim(fixture, "ana", "r1")
      fixture.clock.set(at(51))
      _ = try await Self.claim(fixture, "ben", "r2")
      fixture.clock.set(at(52))
      let refunded = try fixture.period(40...70, signed: 52, Self.team(2, revoked: 1))
      _ = try await fixture.submit(refunded, for: "boss")
      fixture.clock.set(at(55))
      var added = Self.team(1)
      added["transactionId"] = "L1-added"
      added["additionalTransactionReason"] = "SEAT_ADDITION"
      added["purchaseDate"] = JSONValue(at(55))
      _ = try await fixture.submit(fixture.period(40...70, signed: 55, added), for: "boss")
      let events = try await fixture.events().map(\.event).filter { $0.customer.customerID == "ben" }
      #expect(events.map(\.change.kind) == [.started, .revoked, .started])
    }
  }

  @Test("Seats that Apple releases end at the signed time, and the purchaser keeps access")
  func unclaimed() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(2)), for: "boss")
      _ = try await Self.claim(fixture, "ana", "r1", "claim-a")
      _ = try await Self.claim(fixture, "ben", "r2", "claim-b")
      let payload = try fixture.unclaimed(seats: ["claim-a", "unheard-of"], signed: 51)
      let received = try await fixture.ledger.ingest(
        IncomingNotification(
          appID: "ocean", body: Array("{\"signedPayload\":\"\(payload)\"}".utf8), source: .notification,
          receivedAt: at(52)), signedPayload: payload)
      #expect(received.problem.isEmpty)
      #expect(try fixture.facts()?.transactions.first?.revocationDate == at(51))
      for customer in ["ben", "boss"] {
        #expect(try fixture.facts(of: customer)?.transactions.first?.revocationDate == nil)
      }
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      let known = try await fixture.store.snapshot { try FactHistory(of: ana, in: $0).facts(knownAt: at(53)) }
      #expect(known == (try fixture.facts()))
      #expect(try await Self.claim(fixture, "cem", "r3").seat?.isHeld == true)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A release that was signed before the claim ends the seat at its claim, in the past too")
  func unclaimedBeforeClaim() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(2)), for: "boss")
      _ = try await Self.claim(fixture, "ana", "r1", "claim-a")
      let payload = try fixture.unclaimed(seats: ["claim-a"], signed: 45)
      _ = try await fixture.ledger.ingest(
        IncomingNotification(
          appID: "ocean", body: Array("{\"signedPayload\":\"\(payload)\"}".utf8), source: .notification,
          receivedAt: at(52)), signedPayload: payload)
      let purchase = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")
      let seats = try await fixture.store.snapshot { try $0.seats(of: purchase) }
      #expect(seats.map(\.claimedAt) == [at(50)] && seats.map(\.releasedAt) == [at(50)])
      #expect(try fixture.facts() == CustomerFacts())
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      let known = try await fixture.store.snapshot { try FactHistory(of: ana, in: $0).facts(knownAt: at(53)) }
      #expect(known == (try fixture.facts()))
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A release that arrives before the claim that it ends releases the seat, as in the other order")
  func unclaimedUnknown() async throws {
    let (release, claim) = (51, 50) as (Int64, Int64)
    for arrivesFirst in [true, false] {
      try await LedgerFixture.run { fixture in
        let payload = try fixture.unclaimed(seats: ["claim-a", "claim-b"], signed: release)
        func unclaim() async throws {
          let received = try await fixture.ledger.ingest(
            IncomingNotification(
              appID: "ocean", body: Array("{\"signedPayload\":\"\(payload)\"}".utf8), source: .notification,
              receivedAt: at(release)), signedPayload: payload)
          #expect(received.problem.isEmpty)
        }
        _ = try await fixture.submit(fixture.period(40...70, Self.team(3)), for: "boss")
        if arrivesFirst { try await unclaim() }
        fixture.clock.set(at(claim))
        let claimed = try await Self.claim(fixture, "ana", "r1", "claim-a")
        #expect(claimed.seat?.isHeld == !arrivesFirst)
        #expect(try await Self.claim(fixture, "ben", "r2", "claim-c").seat?.isHeld == true)
        fixture.clock.set(at(release))
        if !arrivesFirst { try await unclaim() }
        let purchase = LineKey(appID: "ocean", environment: .sandbox, lineID: "L1")
        let seats = try await fixture.store.snapshot { try $0.seats(of: purchase) }
        #expect(seats.map(\.releasedAt) == [at(release), nil])
        #expect(try fixture.facts()?.transactions.map(\.revocationDate) == [at(release)])
        let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
        let known = try await fixture.store.snapshot {
          try FactHistory(of: ana, in: $0).facts(knownAt: at(53))
        }
        #expect(known == (try fixture.facts()))
        #expect(try await fixture.replayDifferences().isEmpty)
      }
    }
  }

  @Test("The facts of a seat as of an earlier day can be rebuilt")
  func knownAt() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(2)), for: "boss")
      let seat = try #require(await Self.claim(fixture, "ana", "r1").seat)
      fixture.clock.set(at(60))
      _ = try await fixture.ledger.releaseSeat(seat.seatID, of: "L1", fixture.scope)
      let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")
      try await fixture.store.snapshot { reader throws in
        func isEntitled(knownAt day: Int64) throws -> Bool {
          let facts = try FactHistory(of: ana, in: reader).facts(knownAt: at(day))
          return evaluate(facts, entitlement: "pro", in: LedgerFixture.app, at: at(65)).isEntitled
        }
        #expect(try isEntitled(knownAt: 55))
        #expect(try !isEntitled(knownAt: 61))
        #expect(try !isEntitled(knownAt: 45))
      }
    }
  }

  @Test("A seat follows its holder's merge and loses its holder on erasure")
  func identity() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70, Self.team(2)), for: "boss")
      let seat = try #require(await Self.claim(fixture, "anonymous", "r1").seat)
      _ = try await fixture.ledger.merge("anonymous", into: "ana", fixture.scope)
      #expect(try fixture.facts()?.transactions.first?.originalTransactionID == seat.seatID)
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let freed = try await fixture.ledger.associateSeat(seat.seatID, of: "L1", with: "ben", fixture.scope)
      #expect(freed.customer?.customerID == "ben")
      #expect(try fixture.facts(of: "ben")?.transactions.count == 1)
    }
  }
}
