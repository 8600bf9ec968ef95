/// A binary heap: elements whose smallest one is found and removed first.
///
/// Equal elements have no order among each other; an element that must keep its turn compares a sequence number last.
package struct BinaryHeap<Element: Comparable> {
  @usableFromInline var elements: [Element] = []

  @inlinable package init() {}

  @inlinable package var count: Int { elements.count }

  /// The smallest element.
  @inlinable package var first: Element? { elements.first }

  /// Adds an element; O(log n).
  @inlinable package mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Removes the smallest element, if there is one; O(log n).
  @inlinable package mutating func removeFirst() {
    guard let last = elements.popLast(), !elements.isEmpty else { return }
    elements[0] = last
    var parent = 0
    while let child = smallerChild(of: parent), elements[child] < elements[parent] {
      elements.swapAt(child, parent)
      parent = child
    }
  }

  @inlinable func smallerChild(of parent: Int) -> Int? {
    let left = 2 * parent + 1
    guard left < elements.count else { return nil }
    return left + 1 < elements.count && elements[left + 1] < elements[left] ? left + 1 : left
  }
}

extension BinaryHeap: Sendable where Element: Sendable {}
