import AppStore
import Entitlements
import Store
import TestSupport
import Testing

@Suite("Contract: status polls and repairs")
struct ReconciliationContractTests {
  private func newRepair(_ reason: Repair.Reason = .manual, app: String = "ocean") -> Repair {
    Repair(
      appID: app, environment: .sandbox, reason: reason, from: instant(1), to: instant(2),
      startedAt: instant(3))
  }

  @Test(
    "Status polls are due in order of time, separately for each app and environment",
    arguments: Backend.allCases)
  func polls(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { store throws(StoreError) in
        try store.schedulePoll(of: line("L1"), at: instant(20))
        try store.schedulePoll(of: line("L2"), at: instant(10))
        try store.schedulePoll(of: line("L3", .production), at: instant(5))
        try store.schedulePoll(of: line("L4"), at: instant(10))
        try store.schedulePoll(of: line("L4"), at: nil)
      }
      try await store.snapshot { reader throws in
        #expect(try reader.nextPoll(of: "ocean", in: .sandbox) == instant(10))
        #expect(
          try reader.duePolls(of: "ocean", in: .sandbox, by: instant(20), limit: 9) == [
            line("L2"), line("L1"),
          ])
        #expect(try reader.pollBacklog(of: "ocean", in: .sandbox, by: instant(19)) == 1)
        #expect(try reader.nextPoll(of: "other", in: .sandbox) == nil)
      }
    }
  }

  @Test(
    "The time of the last poll survives rescheduling and is deleted with the schedule",
    arguments: Backend.allCases)
  func lastPolls(backend: Backend) async throws {
    try await backend.withStore { store in
      let polls = try await store.write { store throws(StoreError) in
        try store.schedulePoll(of: line(), at: instant(10))
        var polls = [try store.lastPoll(of: line())]
        #expect(try store.recordPoll(of: line(), at: instant(11)))
        #expect(try !store.recordPoll(of: line("L2"), at: instant(11)), "it is not scheduled")
        try store.schedulePoll(of: line(), at: instant(20))
        polls.append(try store.lastPoll(of: line()))
        try store.schedulePoll(of: line(), at: nil)
        polls.append(try store.lastPoll(of: line()))
        return polls
      }
      #expect(polls == [nil, instant(11), nil])
    }
  }

  @Test(
    "A stored repair is read unchanged, and the oldest unfinished one comes first",
    arguments: Backend.allCases)
  func repairs(backend: Backend) async throws {
    try await backend.withStore { store in
      let (first, second) = try await store.write { store throws(StoreError) in
        var first = try store.begin(newRepair(.downtime))
        let second = try store.begin(newRepair())
        _ = try store.begin(newRepair(app: "other"))
        first.pageToken = "p"
        first.phase = .customers
        first.received = 7
        first.error = "waits"
        try store.put(first)
        return (first, second)
      }
      try await store.snapshot { reader throws in
        #expect(try reader.openRepair(of: "ocean", in: .sandbox, after: 0) == first)
        #expect(try reader.openRepair(of: "ocean", in: .sandbox, after: first.id) == second)
        #expect(try reader.openRepair(of: "ocean", in: .sandbox, after: second.id) == nil)
        #expect(try reader.repair(first.id, of: "ocean") == first)
        #expect(try reader.repair(first.id, of: "other") == nil)
        #expect(try reader.repairs(of: "ocean", in: nil, before: nil, limit: 9) == [second, first])
        #expect(try reader.repairs(of: "ocean", in: .sandbox, before: second.id, limit: 9) == [first])
        #expect(try reader.repairs(of: "ocean", in: .production, before: nil, limit: 9) == [])
      }
    }
  }

  @Test(
    "The queue of a repair contains its lines and those whose poll is due",
    arguments: Backend.allCases)
  func lines(backend: Backend) async throws {
    try await backend.withStore { store in
      let repair = try await store.write { store throws(StoreError) in
        let repair = try store.begin(newRepair())
        try store.schedulePoll(of: line("L1"), at: instant(5))
        try store.schedulePoll(of: line("L2"), at: instant(9))
        try store.schedulePoll(of: line("L3", .production), at: instant(5))
        try store.enqueue(line("L1"), for: repair.id)
        try store.enqueue(line("L0"), for: repair.id)
        try store.enqueueDuePolls(by: instant(8), for: repair)
        try store.dequeue(line("L0"), from: repair.id)
        return repair
      }
      #expect(
        try await store.snapshot { try $0.queuedLines(of: repair, after: nil, limit: 9) } == [line("L1")])
    }
  }

  @Test(
    "Owned lines of the app environment are queued page by page",
    arguments: Backend.allCases)
  func ownedLines(backend: Backend) async throws {
    try await backend.withStore { store in
      let (repair, places) = try await store.write { store throws(StoreError) in
        let evidence = try store.append(evidence("a")).id
        for number in ["L3", "L1", "L2"] {
          try store.record(gain(line(number), "ana", evidence))
        }
        try store.record(gain(line("L4", .production), "ana", evidence))
        let repair = try store.begin(newRepair(.fullPoll))
        let first = try store.enqueueOwnedLines(after: nil, limit: 2, for: repair)
        let second = try store.enqueueOwnedLines(after: first, limit: 2, for: repair)
        return (repair, [first, second, try store.enqueueOwnedLines(after: second, limit: 2, for: repair)])
      }
      #expect(places == ["L2", "L3", nil])
      try await store.snapshot { reader throws in
        #expect(
          try reader.queuedLines(of: repair, after: nil, limit: 9) == [line("L1"), line("L2"), line("L3")])
        #expect(try reader.queuedLines(of: repair, after: "L1", limit: 1) == [line("L2")])
        #expect(try reader.queuedLines(of: repair, after: "L3", limit: 9) == [])
      }
    }
  }

  @Test("A repair's report keeps the first status before and the status after", arguments: Backend.allCases)
  func drift(backend: Backend) async throws {
    try await backend.withStore { store in
      let (nothing, everything) = (CustomerFacts(), CustomerFacts(transactions: [fact()]))
      @Sendable func answer(_ facts: CustomerFacts) -> EntitlementStatus {
        evaluate(facts, entitlement: "pro", in: app, at: instant(50))
      }
      @Sendable func drift(_ before: CustomerFacts, _ after: CustomerFacts?, _ entitlement: String = "pro")
        -> Drift
      {
        Drift(
          customer: customer, entitlement: entitlement, detectedAt: instant(50), before: answer(before),
          after: after.map(answer))
      }
      let repair = try await store.write { store throws(StoreError) in
        let repair = try store.begin(newRepair())
        try store.record(drift(nothing, nil), in: repair.id)
        try store.record(drift(everything, nil), in: repair.id)
        try store.record(drift(nothing, nil, "plus"), in: repair.id)
        try store.confirm(drift(nothing, everything), in: repair.id)
        try store.discard(drift(nothing, nil, "plus"), from: repair.id)
        return repair
      }
      try await store.snapshot { reader throws in
        let report = try reader.drifts(of: repair, after: nil, limit: 9)
        #expect(report == [drift(nothing, everything)])
        #expect(try reader.drifts(of: repair, after: report[0].key, limit: 9) == [])
        #expect(try reader.driftedCustomers(of: repair) == 1)
      }
    }
  }

  @Test(
    "Old finished repairs are deleted with their reports, unfinished ones are kept",
    arguments: Backend.allCases)
  func purged(backend: Backend) async throws {
    try await backend.withStore { store in
      let open = try await store.write { store throws(StoreError) in
        var old = try store.begin(newRepair())
        old.finishedAt = instant(10)
        try store.put(old)
        try store.enqueue(line(), for: old.id)
        let open = try store.begin(newRepair())
        try store.purgeRepairs(finishedBefore: instant(11))
        return open
      }
      #expect(
        try await store.snapshot { try $0.repairs(of: "ocean", in: nil, before: nil, limit: 9) } == [open])
    }
  }

  @Test("The delivery watermark stays while a history is unread, and advances when all of it was read")
  func unread() {
    var mark = DeliveryWatermark(start: instant(10))
    mark.advance(to: instant(20))
    #expect(mark.completeUntil == instant(20))
    mark.unread = instant(18)..<instant(30)
    mark.advance(to: instant(40))
    #expect(mark.completeUntil == instant(20) && mark.examinedUntil == instant(30))
    // A history that begins too late leaves the gap, and so does one of failed deliveries only.
    mark.read(instant(19)..<instant(50), onlyFailures: false)
    mark.read(instant(10)..<instant(25), onlyFailures: true)
    #expect(mark.unread == instant(18)..<instant(30) && mark.completeUntil == instant(20))
    mark.read(instant(10)..<instant(25), onlyFailures: false)
    #expect(mark.unread == instant(25)..<instant(30) && mark.completeUntil == instant(25))
    mark.read(instant(25)..<instant(30), onlyFailures: false)
    #expect(mark.unread == nil && mark.completeUntil == instant(30))
    mark.advance(to: instant(40))
    #expect(mark.completeUntil == instant(40))
    mark.advance(to: instant(35))
    #expect(mark.completeUntil == instant(35), "the clock was set back")
  }

  @Test(
    "The polls of lines that were polled after an instant are read page by page", arguments: Backend.allCases)
  func recordedPolls(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { store throws(StoreError) in
        for (number, polledAt) in [30, 20, 21, 40].enumerated() {
          let line = line("L\(number)")
          try store.schedulePoll(of: line, at: instant(number == 0 ? 99 : 50))
          try store.recordPoll(of: line, at: instant(Int64(polledAt)))
        }
        try store.schedulePoll(of: line("L4", .production), at: instant(9))
        try store.recordPoll(of: line("L4", .production), at: instant(30))
      }
      try await store.snapshot { reader throws in
        func polls(after last: ScheduledPoll?) throws(StoreError) -> [ScheduledPoll] {
          try reader.polls(recordedAfter: instant(20), of: "ocean", in: .sandbox, following: last, limit: 2)
        }
        let first = try polls(after: nil)
        #expect(first.map(\.line.lineID) == ["L2", "L3"])
        #expect(try polls(after: first.last) == [ScheduledPoll(line: line("L0"), at: instant(99))])
      }
    }
  }

  @Test("All lines of a repair leave its queue together", arguments: Backend.allCases)
  func emptiedQueue(backend: Backend) async throws {
    try await backend.withStore { store in
      let repairs = try await store.write { store throws(StoreError) in
        let repairs = [try store.begin(newRepair()), try store.begin(newRepair())]
        for repair in repairs {
          for id in ["L1", "L2"] { try store.enqueue(line(id), for: repair.id) }
        }
        try store.dequeueLines(from: repairs[0].id)
        return repairs
      }
      let queued = try await store.snapshot { reader throws in
        try repairs.map { try reader.queuedLines(of: $0, after: nil, limit: 9).count }
      }
      #expect(queued == [0, 2])
    }
  }

  @Test("An error is recorded in all unfinished repairs of the environment", arguments: Backend.allCases)
  func errors(backend: Backend) async throws {
    try await backend.withStore { store in
      try await store.write { store throws(StoreError) in
        var done = try store.begin(newRepair())
        done.finishedAt = instant(9)
        done.partialError = "refused"
        try store.put(done)
        _ = try store.begin(newRepair(.downtime))
        _ = try store.begin(newRepair(.scheduled))
        _ = try store.begin(newRepair(app: "other"))
        #expect(try store.delayedRepair(for: .scheduled, of: "ocean", in: .sandbox) == nil)
        try store.recordError("unreachable", inUnfinishedRepairsOf: "ocean", in: .sandbox)
        #expect(try store.delayedRepair(for: .scheduled, of: "ocean", in: .sandbox)?.id == 3)
      }
      let repairs = try await store.snapshot { try $0.repairs(of: "ocean", in: nil, before: nil, limit: 9) }
      #expect(repairs.map(\.error) == ["unreachable", "unreachable", ""])
      #expect(repairs.map(\.partialError) == ["", "", "refused"])
      let other = try await store.snapshot { try $0.repairs(of: "other", in: nil, before: nil, limit: 9) }
      #expect(other.map(\.error) == [""])
    }
  }

  @Test("The delivery watermark is stored", arguments: Backend.allCases)
  func mark(backend: Backend) async throws {
    try await backend.withStore { store in
      #expect(try await store.snapshot { try $0.deliveryWatermark(of: "ocean", in: .sandbox) } == nil)
      var mark = DeliveryWatermark(start: instant(1))
      mark.lastDelivery = instant(4)
      mark.typicalInterval = 9
      mark.unread = instant(2)..<instant(3)
      try await store.write { [mark] store throws(StoreError) in
        try store.put(DeliveryWatermark(start: instant(0)), of: "ocean", in: .sandbox)
        try store.put(mark, of: "ocean", in: .sandbox)
      }
      #expect(try await store.snapshot { try $0.deliveryWatermark(of: "ocean", in: .sandbox) } == mark)
    }
  }
}
