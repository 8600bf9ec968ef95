/// A value that all copies refer to until one of them gets another.
///
/// For parts of a fact that few look at: whoever copies the fact counts one reference, and not one for each text
/// that the part has.
@propertyWrapper
package struct CopyOnWriteBox<Value: Hashable & Sendable>: Hashable, Sendable {
  private final class Storage: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private var storage: Storage

  /// A value that nobody else refers to yet.
  package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  package var wrappedValue: Value {
    get { storage.value }
    set { storage = Storage(newValue) }
  }

  package static func == (left: CopyOnWriteBox, right: CopyOnWriteBox) -> Bool {
    left.storage === right.storage || left.storage.value == right.storage.value
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(storage.value) }
}
