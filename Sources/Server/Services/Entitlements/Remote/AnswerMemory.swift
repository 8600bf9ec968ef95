internal import Store
internal import Synchronization

/// The stored answers of the customers that were checked in this process, so that it has them while the database is
/// away. An answer is used only if the customer did not change since it was read.
///
/// Bounded: when the younger half is full it replaces the older one, which has the customers that were not asked about
/// meanwhile.
final class AnswerMemory: Sendable {
  private struct Shard {
    var younger: [CustomerKey: LoadedAnswers] = [:]
    var youngerBytes = 0
    var older: [CustomerKey: LoadedAnswers] = [:]
    let maxBytes: Int

    mutating func insert(_ answers: LoadedAnswers, of customer: CustomerKey) {
      // Two reads may end in another order than they began.
      if let known = younger[customer], known.version > answers.version { return }
      if let replaced = younger.updateValue(answers, forKey: customer) {
        youngerBytes += answers.byteCount - replaced.byteCount
      } else {
        youngerBytes += AnswerMemory.overhead + answers.byteCount + customer.customerID.utf8.count
      }
      guard youngerBytes > maxBytes else { return }
      older = younger
      younger = [:]
      youngerBytes = 0
    }
  }

  /// A shard behind its lock, because an array cannot contain a lock.
  private final class LockedShard: Sendable {
    let shard: Mutex<Shard>

    init(maxBytes: Int) { shard = Mutex(Shard(maxBytes: maxBytes)) }
  }

  private static let shardCount = 16
  /// The memory of a dictionary entry besides its bytes, about.
  private static let overhead = 160

  private let shards: [LockedShard]
  private let changes: CustomerVersions

  /// A memory of at most about `byteLimit` bytes.
  init(changes: CustomerVersions, byteLimit: Int) {
    self.changes = changes
    shards = (0..<Self.shardCount).map { _ in LockedShard(maxBytes: byteLimit / Self.shardCount / 2) }
  }

  /// Returns the answers of a customer who has not changed since they were read; `nil` if there are none.
  func answers(of customer: CustomerKey) -> LoadedAnswers? {
    let version = changes.lastCommit(in: changes.slot(of: customer))
    let answers: LoadedAnswers? = shard(of: customer).shard.withLock { shard in
      if let answers = shard.younger[customer] { return answers }
      guard let answers = shard.older.removeValue(forKey: customer) else { return nil }
      shard.insert(answers, of: customer)
      return answers
    }
    return answers.flatMap { $0.version >= version ? $0 : nil }
  }

  /// Stores the answers of a known customer; no others, which would displace them.
  func insert(_ answers: LoadedAnswers, of customer: CustomerKey) {
    guard case .answers = answers.content else { return }
    shard(of: customer).shard.withLock { $0.insert(answers, of: customer) }
  }

  private func shard(of customer: CustomerKey) -> LockedShard {
    shards[Int(truncatingIfNeeded: customer.storedHash) & (Self.shardCount - 1)]
  }
}

extension LoadedAnswers {
  fileprivate var byteCount: Int {
    if case .answers(let bytes, _) = content { bytes.count } else { 0 }
  }
}
