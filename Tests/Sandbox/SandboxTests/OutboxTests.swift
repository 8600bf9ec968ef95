import AppStore
import Testing

@testable import Sandbox

@Suite struct OutboxTests {
  private var outbox = Outbox()

  @Test("Notifications are due in the order of their times, those of one time in the order of their indices")
  mutating func order() {
    for (index, at) in ([3, 1, 2, 1] as [Int64]).enumerated() { outbox[index] = day(at) }
    outbox[2] = day(5)
    outbox[2] = day(2)
    outbox[0] = nil
    outbox[1] = day(4)
    #expect(outbox.nextAttempt == day(1) && outbox.count == 3)
    #expect(taken(at: 0) == [])
    #expect(taken(at: 3) == [3, 2])
    #expect(taken(at: 9) == [3, 2, 1])
    outbox[3] = day(6)
    #expect(outbox.nextAttempt == day(2) && taken(at: 9) == [2, 1, 3])
    for index in 1...3 { outbox[index] = nil }
    #expect(outbox.nextAttempt == nil && outbox == Outbox())
  }

  /// Takes all that are due, and puts them back.
  private mutating func taken(at days: Int64) -> [Int] {
    var taken: [Int] = []
    while let index = outbox.take(dueAt: day(days)) { taken.append(index) }
    for index in taken { outbox.putBack(index) }
    return taken
  }

  @Test("A send takes no longer with 100,000 notifications", .timeLimit(.minutes(1)))
  mutating func many() {
    for index in 0..<100_000 { outbox[index] = day(0) }
    for index in 0..<100_000 {
      let next = outbox.take(dueAt: day(0))
      #expect(next == index)
      outbox.putBack(index)
      // A failed one waits for its next attempt.
      outbox[index] = index.isMultiple(of: 2) ? nil : day(1)
    }
    #expect(outbox.count == 50_000 && outbox.nextAttempt == day(1))
  }
}
