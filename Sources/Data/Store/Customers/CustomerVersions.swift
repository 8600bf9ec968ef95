internal import Synchronization

/// When customers last changed, counted in commits: what a cache of answers is checked against.
///
/// Many customers share a counter, so a customer may seem to have changed who has not, and never the other
/// way round. The writer raises the counters before it tells anyone that a change is durable.
package final class CustomerVersions: Sendable {
  /// Stands for a customer; several may have the same.
  package struct Slot: Hashable, Sendable {
    let index: Int
  }

  private static let slotCount = 1 << 16

  private let counters: Counters
  private let last = Atomic<UInt64>(0)

  /// Counters at zero: nothing was committed yet.
  package init() { counters = Counters(count: Self.slotCount) }

  /// The number of the last commit. Whoever starts reading after asking sees that commit and all before.
  package var lastCommit: UInt64 { last.load(ordering: .acquiring) }

  /// Where to ask about a customer.
  package func slot(of customer: CustomerKey) -> Slot {
    Slot(index: customer.hashValue & (Self.slotCount - 1))
  }

  /// The number of the last commit in which the customer may have changed.
  package func lastCommit(in slot: Slot) -> UInt64 { counters[slot.index].load(ordering: .acquiring) }

  /// These customers changed in a commit that is durable now and not told to anyone yet. Called by the
  /// store's one writer.
  package func committed(_ customers: Set<CustomerKey>) {
    guard !customers.isEmpty else { return }
    let commit = lastCommit + 1
    for customer in customers { counters[slot(of: customer).index].store(commit, ordering: .releasing) }
    last.store(commit, ordering: .releasing)
  }
}

/// A fixed number of atomic counters.
private final class Counters: @unchecked Sendable {
  // Unchecked: the pointer never changes, and what it points to is atomic.
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

  /// - Precondition: `index` is one of the counters.
  subscript(index: Int) -> Atomic<UInt64> {
    _read { yield start[index] }
  }
}
