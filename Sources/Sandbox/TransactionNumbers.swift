internal import AppStore

/// Numbers for transactions: increasing, and never the same twice, crashes included.
///
/// A block of numbers is written down as used before the first of it is given out. A restart begins
/// behind the last block; the numbers that it skips are nobody's.
struct TransactionNumbers {
  private let directory: PrivateDirectory
  private var next: Int64
  private var reserved: Int64

  private static let file = "transaction-numbers"
  private static let blockSize: Int64 = 1000

  /// Continues where `directory` says. The very first number is made of the moment, so that sandboxes
  /// made at different moments do not give out each other's: 2 and fifteen digits, as Apple's are.
  init(directory: PrivateDirectory, now: Instant) throws(SandboxError) {
    self.directory = directory
    if let text = try directory.read(Self.file) {
      guard let number = Int64(text.prefix { $0 != "\n" }), number > 0 else {
        throw .damaged(path: "\(directory.path)/\(Self.file)", detail: "it holds no number")
      }
      next = number
    } else {
      next = 2_000_000_000_000_000 + max(0, now.millisecondsSince1970)
    }
    reserved = next
  }

  /// A number that was never given out before.
  mutating func take() throws(SandboxError) -> String {
    if next >= reserved {
      try directory.write(Self.file, "\(next + Self.blockSize)\n".utf8)
      reserved = next + Self.blockSize
    }
    defer { next += 1 }
    return String(next)
  }
}
