import NIOCore
import NIOPosix
import Testing

@testable import Transport

@Suite struct LoopTimersTests {
  /// The numbers of the work that has run, in order.
  private final class Log {
    var numbers: [Int] = []
  }

  private func deadline(_ number: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(number)) }

  @Test("Work becomes due in order of its deadlines, and of its addition for the same deadline")
  func order() {
    var queue = TimerQueue()
    let log = Log()
    // The deadlines 0, 7, 4, 1, 8, 5, 2, 9, 6, 3, each three times.
    for number in 0..<30 {
      _ = queue.add(at: deadline(number * 7 % 10)) { log.numbers.append(number) }
    }
    while let work = queue.takeDue(at: deadline(4)) { work() }
    let expected = (0..<30).filter { $0 * 7 % 10 <= 4 }.sorted { ($0 * 7 % 10, $0) < ($1 * 7 % 10, $1) }
    #expect(log.numbers == expected)
    #expect(queue.earliest == deadline(5))
    #expect(queue.entries == 15)
  }

  @Test("Cancelled work does not run, and cancelling work that has run changes nothing")
  func cancelled() {
    var queue = TimerQueue()
    let log = Log()
    let numbers = (0..<6).map { number in
      queue.add(at: deadline(6 - number)) { log.numbers.append(number) }
    }
    queue.cancel(numbers[1])
    queue.cancel(numbers[5])
    queue.cancel(numbers[5])
    while let work = queue.takeDue(at: deadline(10)) { work() }
    #expect(log.numbers == [4, 3, 2, 0])
    queue.cancel(numbers[0])
    #expect(queue.entries == 0)
  }

  @Test("Cancelled work is freed at once, and leaves the queue")
  func memory() {
    var queue = TimerQueue()
    weak var held: Log?
    do {
      let log = Log()
      held = log
      let number = queue.add(at: .distantFuture) { log.numbers.append(0) }
      queue.cancel(number)
    }
    #expect(held == nil)
    let last = Log()
    for number in 0..<10_000 {
      queue.cancel(queue.add(at: deadline(20_000 - number)) {})
      if number.isMultiple(of: 100) {
        _ = queue.add(at: deadline(30_000 - number)) { last.numbers.append(number) }
      }
    }
    #expect(queue.entries == 100)
    while let work = queue.takeDue(at: deadline(30_000)) { work() }
    #expect(last.numbers == stride(from: 0, to: 10_000, by: 100).reversed())
  }

  @Test("Work that remains after cancellations in any order is taken in the order of deadlines")
  func cancelledInAnyOrder() {
    // Multiples of numbers that are prime to 300 are its numbers in other orders.
    for (step, order) in [(7, 11), (77, 13), (121, 299), (1, 1)] {
      var queue = TimerQueue()
      let log = Log()
      let numbers = (0..<300).map { index in
        let time = index * step % 300 / 3
        return (number: queue.add(at: deadline(time)) { log.numbers.append(time) }, time: time)
      }
      let cancelled = Set((0..<200).map { $0 * order % 300 })
      for index in 0..<200 { queue.cancel(numbers[index * order % 300].number) }
      #expect(queue.entries == 100)
      while let work = queue.takeDue(at: deadline(100)) { work() }
      #expect(
        log.numbers == numbers.indices.filter { !cancelled.contains($0) }.map { numbers[$0].time }.sorted())
    }
  }

  @Test("Timers run on their loop, also those that are added before the earliest one")
  func onTheLoop() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let finished = loop.makePromise(of: [Int].self)
    loop.execute {
      let timers = LoopTimers(loop)
      let log = Log()
      _ = timers.schedule(in: .hours(1)) { log.numbers.append(0) }
      _ = timers.schedule(in: .nanoseconds(.max)) { log.numbers.append(1) }
      let cancelled = timers.schedule(in: .milliseconds(1)) { log.numbers.append(2) }
      _ = timers.schedule(in: .milliseconds(2)) {
        log.numbers.append(3)
        _ = timers.schedule(in: .milliseconds(1)) { finished.succeed(log.numbers) }
      }
      cancelled.cancel()
    }
    #expect(try await finished.futureResult.get() == [3])
  }
}
