/// A dictionary that knows which of its keys were written to since it was last asked.
///
/// Whoever keeps a copy of a world elsewhere, such as in tables, brings that up to date with no more than what changed.
struct ChangeTrackedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var content: [Key: Value] = [:]
  /// The keys whose values were set, changed or taken out since ``clearChanges()``.
  private(set) var changed: Set<Key> = []

  var keys: Dictionary<Key, Value>.Keys { content.keys }
  var values: Dictionary<Key, Value>.Values { content.values }
  var count: Int { content.count }
  var isEmpty: Bool { content.isEmpty }

  subscript(key: Key) -> Value? {
    get { content[key] }
    set {
      changed.insert(key)
      content[key] = newValue
    }
  }

  subscript(key: Key, default fallback: @autoclosure () -> Value) -> Value {
    get { content[key] ?? fallback() }
    set { self[key] = newValue }
  }

  mutating func clearChanges() { changed.removeAll(keepingCapacity: true) }
}

extension ChangeTrackedDictionary: Equatable where Value: Equatable {
  /// Whether the content is the same, whatever changed on the way to it.
  static func == (left: ChangeTrackedDictionary, right: ChangeTrackedDictionary) -> Bool {
    left.content == right.content
  }
}

/// A list that only grows, and knows which of its places were written to since it was last asked.
struct ChangeTrackedList<Element: Sendable>: RandomAccessCollection, MutableCollection, Sendable {
  private var elements: [Element] = []
  /// The places whose elements were appended or changed since ``clearChanges()``.
  private(set) var changed: Set<Int> = []

  var startIndex: Int { elements.startIndex }
  var endIndex: Int { elements.endIndex }

  subscript(index: Int) -> Element {
    get { elements[index] }
    set {
      changed.insert(index)
      elements[index] = newValue
    }
  }

  mutating func append(_ element: Element) {
    changed.insert(elements.count)
    elements.append(element)
  }

  mutating func clearChanges() { changed.removeAll(keepingCapacity: true) }
}

extension ChangeTrackedList: Equatable where Element: Equatable {
  /// Whether the content is the same, whatever changed on the way to it.
  static func == (left: ChangeTrackedList, right: ChangeTrackedList) -> Bool {
    left.elements == right.elements
  }
}
