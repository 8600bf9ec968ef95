internal import Glibc

/// A pipe that wakes a thread in `poll`.
final class WakeUpPipe: Sendable {
  /// Readable after ``wake()``, until ``reset()``.
  let descriptor: CInt
  private let writeEnd: CInt

  init() throws(PostgresError) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw PostgresError(.unavailable, "pipe: error \(errno)") }
    (descriptor, writeEnd) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  /// Wakes the thread. A full pipe wakes it already.
  func wake() {
    var byte: UInt8 = 0
    _ = write(writeEnd, &byte, 1)
  }

  /// Makes the descriptor unreadable again.
  func reset() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(descriptor, &bytes, bytes.count) > 0 {}
  }
}
