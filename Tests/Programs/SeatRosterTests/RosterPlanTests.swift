import SeatRoster
import Testing

/// The changes that make seats equal to a roster.
@Suite struct RosterPlanTests {
  private func plan(
    _ customers: [String], _ seats: [ClaimedSeat], purchased: Int, isIncomplete: Bool = false
  ) throws -> RosterPlan {
    let text = "customer_id\n" + customers.map { "\($0)\n" }.joined()
    let roster = try Roster(csv: Array(text.utf8), purchase: "1")
    return RosterPlan(
      rows: roster.rows(of: "1"), seats: seats, purchased: purchased, isIncomplete: isIncomplete)
  }

  private let seats = [ClaimedSeat(id: "s1", customer: "ann"), ClaimedSeat(id: "s2", customer: "ben")]

  @Test("A roster equal to the seats changes nothing")
  func unchanged() throws {
    let plan = try plan(["ben", "ann"], seats, purchased: 2)
    #expect(plan.unchanged.map(\.customer) == ["ben", "ann"])
    #expect(plan.claims.isEmpty && plan.releases.isEmpty && plan.withoutSeat.isEmpty)
  }

  @Test("A released seat is free for a new member of a full purchase")
  func exchange() throws {
    let plan = try plan(["ann", "cat"], seats, purchased: 2)
    #expect(plan.claims.map(\.customer) == ["cat"] && plan.releases.map(\.id) == ["s2"])
  }

  @Test("The last rows have no seat if there are too few")
  func tooMany() throws {
    let plan = try plan(["ann", "ben", "cat", "dan"], seats, purchased: 3)
    #expect(plan.claims.map(\.customer) == ["cat"] && plan.withoutSeat.map(\.customer) == ["dan"])
    #expect(try self.plan(["ann", "ben", "cat"], seats, purchased: 1).withoutSeat.map(\.customer) == ["cat"])
  }

  @Test("No seat is released while a row has an error")
  func incomplete() throws {
    let plan = try plan(["cat"], seats, purchased: 3, isIncomplete: true)
    #expect(plan.releases.isEmpty && plan.heldBack.map(\.id) == ["s1", "s2"])
    #expect(plan.claims.map(\.customer) == ["cat"])
  }

  @Test("Customers whose ids only look the same are other customers, as the service compares them")
  func equivalentIDs() throws {
    let (composed, combining) = ("jos\u{E9}", "jose\u{301}")
    let both = try plan([composed, combining], [], purchased: 2)
    #expect(both.claims.map(\.customer.utf8.count) == [5, 6])
    let other = try plan([combining], [ClaimedSeat(id: "s1", customer: composed)], purchased: 1)
    #expect(other.claims.map(\.customer.utf8.count) == [6] && other.releases.map(\.id) == ["s1"])
  }

  @Test("A seat without a customer is released for a member who would have none, and only then")
  func withoutHolder() throws {
    let seats = [ClaimedSeat(id: "s1", customer: ""), ClaimedSeat(id: "s2", customer: "ann")]
    let full = try plan(["ann", "cat"], seats, purchased: 2)
    #expect(full.claims.map(\.customer) == ["cat"] && full.releases.map(\.id) == ["s1"])
    #expect(try plan(["ann", "cat"], seats, purchased: 3).releases.isEmpty)
    #expect(try plan(["cat"], seats, purchased: 2).releases.map(\.id) == ["s2"])
    #expect(try plan(["ann", "cat"], seats, purchased: 1).releases.isEmpty, "no seat would be free")
    let incomplete = try plan(["ann", "cat"], seats, purchased: 2, isIncomplete: true)
    #expect(incomplete.releases.isEmpty && incomplete.heldBack.map(\.id) == ["s1"])
    #expect(incomplete.withoutSeat.map(\.customer) == ["cat"])
  }

  @Test("A seat without a customer and one of a merged customer's target stay")
  func kept() throws {
    let seats = [
      ClaimedSeat(id: "s1", customer: ""), ClaimedSeat(id: "s2", customer: "new", mergedCustomers: ["old"]),
    ]
    let plan = try plan(["old"], seats, purchased: 2)
    #expect(plan.releases.isEmpty && plan.claims.isEmpty && plan.unchanged.map(\.customer) == ["old"])
  }
}
