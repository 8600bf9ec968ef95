internal import AppStore
internal import Synchronization

/// The first transaction id of a world, and the seed of its UUIDs.
///
/// Worlds of one process issue different ids, so that one backend can be tested with several of them. A world that is
/// reset or restored has a new origin, because a backend may have stored the ids that the world issued before.
package struct WorldOrigin: Hashable, Sendable {
  /// The first id to issue; later ones count up.
  let firstNumber: Int64
  let seed: UInt64

  /// An origin from the journal; `nil` for a number that is no transaction id of a sandbox.
  init?(firstNumber: Int64, seed: UInt64) {
    guard Self.numbers.contains(firstNumber) else { return nil }
    (self.firstNumber, self.seed) = (firstNumber, seed)
  }

  /// The origin of the world with that number.
  private init(count: Int64) {
    firstNumber = Self.base + count % Self.originCount * Self.numbersPerOrigin
    seed = UInt64(bitPattern: count)
  }

  /// The ids of one origin. They have 16 digits and begin with 2, like the ids in Apple's sandbox.
  private static let numbersPerOrigin: Int64 = 1_000_000
  private static let base: Int64 = 2_100_000_000_000_000
  private static let originCount: Int64 = 800_000_000
  private static let numbers: ClosedRange<Int64> = 0...2_999_999_999_999_999
  /// The beginning of 2026, in milliseconds since 1970.
  private static let epoch: Int64 = 1_767_225_600_000
  private static let latest = Mutex<Int64>(0)

  /// Returns an origin that no other world of this process has. Processes that start at different seconds have different
  /// origins, too.
  static func next(at machine: Instant) -> WorldOrigin {
    let seconds = max(1, (machine.millisecondsSince1970 - epoch) / 1_000)
    let count = latest.withLock { latest in
      latest = max(latest + 1, seconds)
      return latest
    }
    return WorldOrigin(count: count)
  }
}
