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
  /// The connections whose turn has ended, oldest first.
  private var next: [any DelayedConnection] = []
  private var isReadingNext = false

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

  /// Lets a connection read on after the end of this tick and the connections that are ready by then.
  func readNext(_ connection: any DelayedConnection) { next.append(connection) }

  /// Reads on soon. Called at the end of a tick, when its output is sent: the loop looks which connections are ready once
  /// nothing remains to run, and what is due by then runs before.
  func tickEnded() {
    guard !next.isEmpty, !isReadingNext else { return }
    isReadingNext = true
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: Self.pause) { bound.value.readNextOnes() }
  }

  private func readNextOnes() {
    isReadingNext = false
    let end = NIODeadline.now() + ReadingTurn.time
    // Those whose turn ends again come last.
    let count = next.count
    var served = 0
    repeat {
      served += 1
      let connection = next[served - 1]
      connection.readDelayed()
    } while served < count && NIODeadline.now() < end
    next.removeFirst(served)
    guard !next.isEmpty else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    // After the end of the tick that the connections began, if they did.
    loop.execute { bound.value.tickEnded() }
  }

  /// Longer than the loop needs until it looks which connections are ready, and short beside a turn: the loop waits for it
  /// if there is nothing else to do.
  private static let pause = TimeAmount.microseconds(25)

  private func scheduleDelayed() {
    let bound = NIOLoopBound(self, eventLoop: loop)
    let delay = min(max(spent * 9, Self.minDelay), Self.maxDelay)
    loop.scheduleTask(in: delay) { bound.value.readDelayed() }
  }

  /// Lets connections read in the order in which they waited, for ``delayedTime`` at most; the rest waits for the
  /// next tick.
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

/// One turn of a connection on its event loop, after which the other connections have theirs.
struct ReadingTurn {
  private let end: NIODeadline
  private let lastTask: Int

  /// - Parameters:
  ///   - start: the time at which it begins.
  ///   - startedTasks: the number of calls and requests of the connection that were started as tasks.
  init(start: NIODeadline, startedTasks: Int) {
    end = start + Self.time
    lastTask = startedTasks + Self.tasks
  }

  func hasEnded(at now: NIODeadline, startedTasks: Int) -> Bool {
    startedTasks >= lastTask || now >= end
  }

  /// 64 KiB may have more than a thousand calls, each of which is cheap.
  static let time = TimeAmount.milliseconds(1)
  /// The number of calls and requests of a turn that run as tasks.
  private static let tasks = 16
}
