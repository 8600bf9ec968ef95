internal import NIOCore

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
