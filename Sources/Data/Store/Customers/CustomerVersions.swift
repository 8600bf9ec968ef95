internal import Synchronization

/// Counts commits by customer, so that caches of answers can detect changes.
///
/// Customers with the same slot share a counter, so a customer may seem changed without having changed, but a
/// change is never missed. The writer raises the counters before it acknowledges a commit; where other processes write,
/// the follower of their commits raises them too.
package final class CustomerVersions: Sendable {
  /// The counter of a customer, which others may share.
  package struct Slot: Hashable, Sendable {
    fileprivate let index: Int
  }

  /// Half a megabyte of counters. Customers who share one only cost each other a lookup.
  fileprivate static let slotCount = 1 << 16

  private let counters: Counters
  private let last = Atomic<UInt64>(0)
  private let raises = Atomic<Int>(0)
  /// Held while counters are raised, so that ``lastCommit`` never goes back.
  private let raising = Mutex(())

  /// Creates counters at zero, before the first commit.
  package init() { counters = Counters(count: Self.slotCount) }

  /// The number of the last commit. A snapshot that begins after this call sees that commit and all earlier
  /// ones.
  package var lastCommit: UInt64 { last.load(ordering: .acquiring) }

  /// The number of calls of ``raiseAll()``, after which all that was read from the store may have changed.
  package var raiseCount: Int { raises.load(ordering: .acquiring) }

  /// Returns the slot of a customer.
  package func slot(of customer: CustomerKey) -> Slot { Slot(hash: customer.storedHash) }

  /// Returns the number of the last commit in which a customer of the slot changed.
  package func lastCommit(in slot: Slot) -> UInt64 { counters[slot.index].load(ordering: .acquiring) }

  /// Records a commit of this process that changed these customers, after it is durable and before it is acknowledged.
  package func committed(_ customers: Set<CustomerKey>) {
    guard !customers.isEmpty else { return }
    raise { commit in
      for customer in customers { counters[slot(of: customer).index].store(commit, ordering: .releasing) }
    }
  }

  /// Records commits of other processes that changed the customers with these ``CustomerKey/storedHash``es, after they
  /// are visible to new snapshots.
  package func committed(hashes: [Int64]) {
    guard !hashes.isEmpty else { return }
    raise { commit in
      for hash in hashes { counters[Slot(hash: hash).index].store(commit, ordering: .releasing) }
    }
  }

  /// Records commits of other processes that may have changed any customer, or the loss of commits.
  package func raiseAll() {
    raises.wrappingAdd(1, ordering: .releasing)
    raise { commit in
      for index in 0..<Self.slotCount { counters[index].store(commit, ordering: .releasing) }
    }
  }

  private func raise(_ store: (_ commit: UInt64) -> Void) {
    raising.withLock { _ in
      let commit = lastCommit + 1
      store(commit)
      last.store(commit, ordering: .releasing)
    }
  }
}

extension CustomerVersions.Slot {
  fileprivate init(hash: Int64) { index = Int(truncatingIfNeeded: hash) & (CustomerVersions.slotCount - 1) }
}

/// A fixed number of atomic counters.
// Unchecked: the pointer never changes, and its memory consists of atomics.
private final class Counters: @unchecked Sendable {
  private let start: UnsafeMutablePointer<Atomic<UInt64>>
  private let count: Int

  init(count: Int) {
    self.count = count
    start = .allocate(capacity: count)
    for index in 0..<count { (start + index).initialize(to: Atomic(0)) }
  }

  deinit {
    start.deinitialize(count: count)
    start.deallocate()
  }

  /// - Precondition: `index` is less than the number of counters.
  subscript(index: Int) -> Atomic<UInt64> {
    _read { yield start[index] }
  }
}
