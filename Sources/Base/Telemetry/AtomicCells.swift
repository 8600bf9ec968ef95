internal import Synchronization

/// A row of counters in one piece of memory. Each can be written by one thread in the cheap way, or by any in the
/// other, and be read by all at any time.
final class AtomicCells: @unchecked Sendable {
  // Unchecked: the memory is only touched through atomics, and freed with the last reference.
  private let cells: UnsafeMutablePointer<Atomic<UInt64>>
  let count: Int

  init(count: Int) {
    self.count = count
    cells = .allocate(capacity: count)
    for index in 0..<count { (cells + index).initialize(to: Atomic(0)) }
  }

  deinit {
    cells.deinitialize(count: count)
    cells.deallocate()
  }

  /// Adds, where no other thread ever writes to this cell: a load and a store, no locked instruction.
  func addAlone(_ amount: UInt64, at index: Int) {
    let value = cells[index].load(ordering: .relaxed)
    cells[index].store(value &+ amount, ordering: .relaxed)
  }

  /// Adds, whoever else does.
  func add(_ amount: UInt64, at index: Int) { cells[index].wrappingAdd(amount, ordering: .relaxed) }

  subscript(index: Int) -> UInt64 { cells[index].load(ordering: .relaxed) }
}
