extension Range<Int> {
  /// The first index that matches, or the end; all indices after it match too. By binary search.
  @inlinable
  package func firstInOrder(where matches: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if matches(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
