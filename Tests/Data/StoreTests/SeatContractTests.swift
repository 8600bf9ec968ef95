import AppStore
import Entitlements
import FamilySharing
import Store
import TestSupport
import Testing

/// Contract tests of seats, and of finding purchases by app install, product and time.
@Suite struct SeatContractTests {
  private static func seat(_ number: Int, claim: String? = nil, released: Int64? = nil) -> Seat {
    Seat(
      seatID: "seat-\(number)", originalTransactionID: "L1", seatClaimID: claim,
      requestIdentifier: "r\(number)",
      claimedAt: instant(Int64(number)), releasedAt: released.map(instant))
  }

  @Test(
    "Seat claims of a purchase keep their order and are found by line and by Apple's id",
    arguments: Backend.allCases)
  func seats(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let first = try transaction.append(evidence("a")).id
        let second = try transaction.append(evidence("b")).id
        try transaction.put(Self.seat(1, claim: "c1"), of: line(), from: first)
        try transaction.put(Self.seat(2), of: line(), from: second)
        #expect(try transaction.seat(line("seat-1")) == Self.seat(1, claim: "c1"))
        #expect(try transaction.seat(line("seat-9")) == nil)
        #expect(try transaction.seat(claimedAs: "c1", of: "ocean", in: .sandbox)?.seatID == "seat-1")
        #expect(try transaction.seat(claimedAs: "c1", of: "ocean", in: .production) == nil)
        #expect(try transaction.seat(claimedAs: "", of: "ocean", in: .sandbox) == nil)
        try transaction.put(Self.seat(1, claim: "c1", released: 7), of: line(), from: second)
      }
      try await store.snapshot { reader throws in
        #expect(try reader.seats(of: line()) == [Self.seat(1, claim: "c1", released: 7), Self.seat(2)])
        #expect(try reader.seats(of: line("L2")).isEmpty)
        #expect(try reader.seats(of: line("L1", .production)).isEmpty)
      }
    }
  }

  @Test(
    "The lines of an Apple account are found by its app install in any order of arrival",
    arguments: Backend.allCases)
  func copies(backend: Backend) async throws {
    @Sendable func bought(_ transaction: String, _ number: String, through copy: String?) -> TransactionFact {
      var fact = fact(transaction, line: number)
      fact.details.appTransactionID = copy
      return fact
    }
    try await backend.withStore { store in
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        for number in ["L1", "L2"] {
          _ = try transaction.put(bought("T\(number)", number, through: "C1"), of: line(number), from: id)
          _ = try transaction.put(bought("T\(number)", number, through: "C1"), of: line(number), from: id)
        }
        _ = try transaction.put(bought("T3", "L3", through: "C2"), of: line("L3"), from: id)
        _ = try transaction.put(bought("T4", "L4", through: nil), of: line("L4"), from: id)
        let production = line("L5", .production)
        _ = try transaction.put(bought("T5", "L5", through: "C1"), of: production, from: id)
      }
      try await store.snapshot { reader throws in
        let found = try reader.lines(ofAppInstall: "C1", of: "ocean", in: .sandbox)
        #expect(Set(found) == [line("L1"), line("L2")] && found.count == 2)
        #expect(
          try reader.lines(ofAppInstall: "C1", of: "ocean", in: .production) == [line("L5", .production)])
        #expect(try reader.lines(ofAppInstall: "C1", of: "desert", in: .sandbox).isEmpty)
        #expect(try reader.lines(ofAppInstall: "", of: "ocean", in: .sandbox).isEmpty)
      }
    }
  }

  @Test("Purchases are found by id, and by product and time", arguments: Backend.allCases)
  func purchases(backend: Backend) async throws {
    try await backend.withStore { store in
      let bought = fact("T1", line: "L1")
      var other = fact("T3", line: "L3")
      other.type = .consumable
      let consumable = other
      try await store.write { transaction throws(StoreError) in
        let id = try transaction.append(evidence("a")).id
        _ = try transaction.put(bought, of: line("L1"), from: id)
        _ = try transaction.put(fact("T2", line: "L2"), of: line("L2"), from: id)
        _ = try transaction.put(consumable, of: line("L3"), from: id)
      }
      try await store.snapshot { reader throws in
        #expect(try reader.transaction("T1", of: "ocean", in: .sandbox) == bought)
        #expect(try reader.transaction("T1", of: "ocean", in: .production) == nil)
        #expect(try reader.facts(of: line("L2")).transactions.map(\.transactionID) == ["T2"])
        #expect(try reader.facts(of: line("L9")) == CustomerFacts())
        func found(_ product: String, limit: Int = 9) throws -> [String] {
          try reader.lines(
            sharing: product, at: bought.sharedInstant, of: "ocean", in: .sandbox, limit: limit
          )
          .map(\.lineID).sorted()
        }
        #expect(try found(bought.productID) == ["L1", "L2"])
        #expect(try found(bought.productID, limit: 1).count == 1)
        #expect(try found("other").isEmpty)
      }
    }
  }
}
