internal import NIOCore

/// The connections of one event loop whose input waits, because it would occupy the loop. Confined to its loop.
final class DelayedInput {
  private let loop: any EventLoop
  /// The connections whose input waits because it costs much, oldest first.
  private var delayed: [any DelayedConnection] = []
  /// The number of those at the start of the list that were served.
  private var served = 0
  private var isReadingLater = false
  /// The time of the costly input after which nothing has waited yet.
  private var spent = TimeAmount.zero

  init(_ loop: any EventLoop) { self.loop = loop }

  /// Lets a connection read on later, because the input of `time` cost much. Such input gets about a tenth of the loop's
  /// time, which all of its connections share in turns.
  func readLater(_ connection: any DelayedConnection, after time: TimeAmount) {
    delayed.append(connection)
    spent = spent + time
    guard !isReadingLater else { return }
    isReadingLater = true
    scheduleDelayed()
  }

  /// Lets a connection read on after the connections that are ready by now.
  func readNext(_ connection: any DelayedConnection) {
    let bound = NIOLoopBound(connection, eventLoop: loop)
    // What is executed at once runs before the loop looks which connections are ready.
    loop.scheduleTask(in: Self.turn) { bound.value.readDelayed() }
  }

  /// Short, and later than the loop needs for what it executes now.
  private static let turn = TimeAmount.microseconds(100)

  private func scheduleDelayed() {
    let bound = NIOLoopBound(self, eventLoop: loop)
    let delay = min(max(spent * 9, Self.minDelay), Self.maxDelay)
    loop.scheduleTask(in: delay) { bound.value.readDelayed() }
  }

  private func readDelayed() {
    let begin = NIODeadline.now()
    var (elapsed, unmeasured) = (TimeAmount.zero, TimeAmount.zero)
    spent = .zero
    // Those that wait again come last.
    let end = delayed.count
    while served < end, elapsed < Self.delayedTime {
      served += 1
      let connection = delayed[served - 1]
      connection.readDelayed()
      unmeasured = unmeasured + connection.unmeasuredTime
      elapsed = (NIODeadline.now() - begin) + unmeasured
    }
    // Rarely, because it moves all others.
    if served * 2 >= delayed.count {
      delayed.removeFirst(served)
      served = 0
    }
    spent = max(spent, elapsed)
    isReadingLater = !delayed.isEmpty
    if isReadingLater { scheduleDelayed() }
  }

  /// The time for delayed input at once, after which the other connections are served.
  private static let delayedTime = TimeAmount.microseconds(100)
  private static let minDelay = TimeAmount.milliseconds(1)
  /// A thread that other programs preempt measures too much time.
  private static let maxDelay = TimeAmount.milliseconds(10)
}

/// A connection whose input can wait. Called on its loop.
protocol DelayedConnection: AnyObject {
  /// Reads on.
  func readDelayed()

  /// The time of what it reads only later.
  var unmeasuredTime: TimeAmount { get }
}
