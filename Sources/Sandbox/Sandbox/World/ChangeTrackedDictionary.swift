/// A dictionary that records which values were changed, and in which order.
///
/// The tables are updated from the recorded keys, so an action writes only the rows that it changed. Setting an equal
/// value is no change.
struct ChangeTrackedDictionary<Key: Hashable & Sendable, Value: Equatable & Sendable>: Equatable, Sendable {
  private var content: [Key: Value] = [:]
  private var revisions: [Key: Int64] = [:]
  private var lastRevision: Int64 = 0
  /// The keys whose values were changed or removed since ``clearChanges()``.
  private(set) var changed: Set<Key> = []

  var keys: Dictionary<Key, Value>.Keys { content.keys }
  var values: Dictionary<Key, Value>.Values { content.values }
  var count: Int { content.count }
  var isEmpty: Bool { content.isEmpty }

  subscript(key: Key) -> Value? {
    get { content[key] }
    set {
      guard content[key] != newValue else { return }
      lastRevision += 1
      revisions[key] = newValue == nil ? nil : lastRevision
      changed.insert(key)
      content[key] = newValue
    }
  }

  /// The number of the last change of a value, which grows with each change of the dictionary; 0 for a missing key.
  func revision(of key: Key) -> Int64 { revisions[key] ?? 0 }

  subscript(key: Key, default fallback: @autoclosure () -> Value) -> Value {
    get { content[key] ?? fallback() }
    set { self[key] = newValue }
  }

  /// Begins to record again after the changed rows were written; revisions stay.
  mutating func clearChanges() { changed.removeAll(keepingCapacity: true) }

  /// Compares the contents only.
  static func == (left: ChangeTrackedDictionary, right: ChangeTrackedDictionary) -> Bool {
    left.content == right.content
  }
}

/// An append-only list that records which elements were written. Setting an element counts as a change, also to an
/// equal value.
struct ChangeTrackedList<Element: Sendable>: RandomAccessCollection, MutableCollection, Sendable {
  private var elements: [Element] = []
  /// The indices that were written since ``clearChanges()``.
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
  /// Compares the contents only.
  static func == (left: ChangeTrackedList, right: ChangeTrackedList) -> Bool {
    left.elements == right.elements
  }
}
