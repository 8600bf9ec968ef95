internal import CPostgreSQL
internal import Glibc
internal import Platform
internal import Synchronization

/// Cancels the running statement of a session, so that the session stays usable.
enum Cancellation {
  /// The longest time until the session is given up instead.
  private static let limit = Duration.milliseconds(500)
  /// Cancelling opens a connection to the server, which can block for minutes.
  private static let threads = BackgroundThreads(count: 2)

  /// Cancels, and reads the remaining results.
  ///
  /// - Returns: whether the session is usable, and the cancellation will not hit its next statement.
  static func run(on handle: SessionHandle) -> Bool {
    guard let canceller = handle.makeCanceller() else { return false }
    let isDone = Flag()
    threads.async {
      canceller.cancel()
      isDone.value.store(true, ordering: .releasing)
    }
    let wait = SocketWait(timeout: limit)
    do throws(PostgresError) {
      try drain(handle, wait)
      while !isDone.value.load(ordering: .acquiring) {
        try wait.checkTime()
        usleep(1000)
      }
      return true
    } catch {
      return false
    }
  }

  /// Reads the remaining results of a round trip.
  private static func drain(_ handle: SessionHandle, _ wait: SocketWait) throws(PostgresError) {
    let isPipeline = handle.isInPipeline
    while true {
      switch try wait.next(handle) {
      case .sync: return try handle.exitPipeline()
      case .endOfCommand: if !isPipeline { return }
      case .copyIn: throw .unexpectedResult
      case .rows, .failed, .skipped: break
      }
    }
  }

  private final class Flag: Sendable {
    let value = Atomic(false)
  }
}

/// Cancels the running statement of a session, on the thread that calls it.
// Unchecked: libpq's cancel object is a copy of the address and the key, which nothing changes.
final class Canceller: @unchecked Sendable {
  private let handle: OpaquePointer

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { PQfreeCancel(handle) }

  /// Asks the server to cancel; blocks for one connection.
  func cancel() {
    var message = [CChar](repeating: 0, count: 256)
    PQcancel(handle, &message, CInt(message.count))
  }
}
