/// A value in shared storage: copies refer to the same storage until one of them is assigned a new value.
///
/// For rarely read parts of a fact: copying the fact retains one reference instead of one per string of the
/// part.
@propertyWrapper
package struct CopyOnWriteBox<Value: Hashable & Sendable>: Hashable, Sendable {
  /// The shared value. It never changes: a write makes another storage.
  private final class Storage: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private var storage: Storage

  package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  package var wrappedValue: Value {
    get { storage.value }
    set { storage = Storage(newValue) }
  }

  /// Calls `body` with the value, without a copy of it.
  package func read<Part>(_ body: (borrowing Value) -> Part) -> Part { body(storage.value) }

  package static func == (left: CopyOnWriteBox, right: CopyOnWriteBox) -> Bool {
    left.storage === right.storage || left.storage.value == right.storage.value
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(storage.value) }
}
