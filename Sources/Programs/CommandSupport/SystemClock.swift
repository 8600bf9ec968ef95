package import AppStore
internal import Foundation

/// The clocks of the operating system. No other code reads them; components receive the time.
package enum SystemClock {
  /// The wall clock (`CLOCK_REALTIME`), in whole milliseconds; it can be set back.
  package static let now: @Sendable () -> Instant = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(
      millisecondsSince1970: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Nanoseconds of the monotonic clock (`CLOCK_MONOTONIC`), from an arbitrary start.
  package static let ticks: @Sendable () -> Int64 = {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
