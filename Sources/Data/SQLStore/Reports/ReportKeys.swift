internal import Reports
internal import Store
internal import Synchronization

/// A row of `report_key`: what sums are grouped by.
struct ReportKey: Sendable {
  let dimensions: Posting.Dimensions
  let reason: String
  let currency: String
}

/// The rows of `report_key` that one snapshot had, by number.
struct ReportKeys: Sendable {
  private(set) var all: [ReportKey] = []
  private var numbers = KeyNumbers(capacity: 0)

  /// Creates a value without keys.
  init() {}

  /// Reads all keys of a snapshot.
  init(of session: some SQLSession) throws(StoreError) {
    let keys = try session.rows(
      "SELECT key_id, product_id, subscription_group, storefront, offer_kind, reason, currency FROM report_key"
    ) { row in
      let dimensions = Posting.Dimensions(
        productID: row.text(1) ?? "", group: row.text(2) ?? "", storefront: row.text(3) ?? "",
        offerKind: row.text(4) ?? "")
      return (
        id: row.number(0),
        key: ReportKey(dimensions: dimensions, reason: row.text(5) ?? "", currency: row.text(6) ?? "")
      )
    }
    numbers = KeyNumbers(capacity: keys.count)
    all.reserveCapacity(keys.count)
    for (id, key) in keys {
      numbers.set(all.count, of: id)
      all.append(key)
    }
  }

  /// The index in ``all`` of the key with an id; `nil` without one.
  func number(of id: Int64) -> Int? { numbers[id] }
}

/// The keys that the readers of a store have decoded: a report of many keys takes 20 ms to decode them again.
///
/// Rows of `report_key` are inserted only. Nothing changes or deletes one, not even a rebuild, and their ids are hashes of the
/// other columns. So an id stands for the same key in each snapshot. A snapshot may have ids that are not here, and then reads
/// them itself.
final class ReportKeyCache: Sendable {
  /// More keys are not kept, because each takes some hundred bytes of memory.
  private static let capacity = 100_000

  private let last = Mutex(ReportKeys())

  /// The keys that a snapshot had, perhaps an older or a newer one.
  var keys: ReportKeys { last.withLock { $0 } }

  /// Returns all keys of a snapshot, and keeps them.
  func read(from session: some SQLSession) throws(StoreError) -> ReportKeys {
    let keys = try ReportKeys(of: session)
    last.withLock { last in
      if keys.all.count > last.all.count, keys.all.count <= Self.capacity { last = keys }
    }
    return keys
  }
}
