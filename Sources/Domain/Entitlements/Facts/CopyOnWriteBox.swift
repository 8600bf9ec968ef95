/// A value that all copies refer to until one of them gets another.
///
/// For parts of a fact that few look at: whoever copies the fact counts one reference, and not one for each text
/// that the part has.
@propertyWrapper
package struct CopyOnWriteBox<Value: Hashable & Sendable>: Hashable, Sendable {
  private final class Place: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  private var place: Place

  /// A value that nobody else refers to yet.
  package init(wrappedValue: Value) { place = Place(wrappedValue) }

  package var wrappedValue: Value {
    get { place.value }
    set { place = Place(newValue) }
  }

  package static func == (left: CopyOnWriteBox, right: CopyOnWriteBox) -> Bool {
    left.place === right.place || left.place.value == right.place.value
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(place.value) }
}
