import Platform
import Testing

@Suite struct BinaryHeapTests {
  /// All elements, from the smallest one.
  private func drain(_ heap: BinaryHeap<Int>) -> [Int] {
    var heap = heap
    var elements: [Int] = []
    while let first = heap.first {
      elements.append(first)
      heap.removeFirst()
    }
    return elements
  }

  @Test("A heap returns its elements in ascending order, equal ones as often as they were added")
  func order() {
    var heap = BinaryHeap<Int>()
    let numbers = (0..<200).map { $0 * 37 % 101 }
    for number in numbers { heap.insert(number) }
    #expect(heap.count == 200)
    #expect(drain(heap) == numbers.sorted())
  }

  @Test("Elements that are added between removals keep the order")
  func mixed() {
    var heap = BinaryHeap<Int>()
    for number in [5, 3, 8] { heap.insert(number) }
    heap.removeFirst()
    for number in [1, 9, 4] { heap.insert(number) }
    #expect(drain(heap) == [1, 4, 5, 8, 9])
  }

  @Test("Removing the first element of an empty heap does nothing")
  func empty() {
    var heap = BinaryHeap<Int>()
    heap.removeFirst()
    #expect(heap.first == nil)
    #expect(heap.count == 0)
  }
}
