package import Entitlements

/// The outlines of the large customers that were written last, as of the writes of the present transaction.
///
/// A cache: an outline follows from the stored facts. Owned by the writer, and confined to its thread.
package final class AccessOutlines {
  /// A cached outline; the one that was not used for the longest time is evicted first.
  private struct Entry {
    let outline: AccessOutline
    let lastUse: Int
  }

  /// The maximum number of intervals of all outlines, of about 24 bytes each. The outline of one customer may exceed it.
  private static let sizeLimit = 2_000_000

  private var entries: [CustomerKey: Entry] = [:]
  private var size = 0
  private var uses = 0
  /// The customers whose outlines changed since the last commit, and since the last savepoint.
  private var changed: (sinceCommit: Set<CustomerKey>, sinceSavepoint: Set<CustomerKey>) = ([], [])

  package init() {}

  /// Removes and returns the outline of a customer, so that the caller can change it without a copy; `nil` if none is
  /// stored.
  package func take(_ customer: CustomerKey) -> AccessOutline? {
    guard let entry = entries.removeValue(forKey: customer) else { return nil }
    size -= entry.outline.size
    return entry.outline
  }

  /// Stores the outline of a customer after a write. Discards those that were not used for longest.
  package func put(_ outline: AccessOutline, of customer: CustomerKey) {
    discard(customer)
    uses += 1
    entries[customer] = Entry(outline: outline, lastUse: uses)
    size += outline.size
    changed.sinceSavepoint.insert(customer)
    while size > Self.sizeLimit, entries.count > 1,
      let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
    {
      discard(oldest)
    }
  }

  /// Removes the outline of a customer.
  package func discard(_ customer: CustomerKey) { _ = take(customer) }

  /// Keeps all changes.
  package func committed() { changed = ([], []) }

  /// Begins a savepoint.
  package func beganSavepoint() {
    changed.sinceCommit.formUnion(changed.sinceSavepoint)
    changed.sinceSavepoint = []
  }

  /// Discards the changes since the savepoint.
  package func rolledBackToSavepoint() {
    for customer in changed.sinceSavepoint { discard(customer) }
    changed.sinceSavepoint = []
  }

  /// Discards all changes since the last commit.
  package func rolledBack() {
    beganSavepoint()
    for customer in changed.sinceCommit { discard(customer) }
    changed = ([], [])
  }
}
