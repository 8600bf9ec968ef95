/// The numbers of the keys of sums. Keys are hashes already, and a report looks up some millions of them: a dictionary hashes each
/// again, which takes longer than everything else about a sum.
struct KeyNumbers {
  private var keys: [Int64]
  /// By slot; -1: empty.
  private var numbers: [Int32]
  private let mask: Int

  /// Creates a table for at most `capacity` keys.
  init(capacity: Int) {
    var size = 16
    // Half of the slots stay empty, so that searches are short.
    while size < 2 * capacity { size *= 2 }
    keys = Array(repeating: 0, count: size)
    numbers = Array(repeating: -1, count: size)
    mask = size - 1
  }

  /// The number of a key; `nil` without one. Numbers are not negative.
  subscript(key: Int64) -> Int? {
    let slot = slot(of: key)
    return numbers[slot] < 0 ? nil : Int(numbers[slot])
  }

  /// Sets the number of a key.
  mutating func set(_ number: Int, of key: Int64) {
    let slot = slot(of: key)
    (keys[slot], numbers[slot]) = (key, Int32(clamping: number))
  }

  /// The slot of a key, or the empty one in which it belongs.
  private func slot(of key: Int64) -> Int {
    var slot = Int(truncatingIfNeeded: key ^ (key >> 32)) & mask
    while numbers[slot] >= 0, keys[slot] != key { slot = (slot + 1) & mask }
    return slot
  }
}
