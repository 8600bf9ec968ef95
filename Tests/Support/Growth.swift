internal import Glibc

/// How the cost of work grows with its size, by the processor time of the current thread: other work on the machine does
/// not count.
package enum Growth {
  /// The time of `work` for eight times `size`, divided by that for `size`: about 8 if it is linear, 64 if it is quadratic.
  /// `prepare` is not measured.
  package static func ofEightfold<Input>(
    _ size: Int, prepare: (Int) throws -> Input, work: (Input) throws -> Void
  ) rethrows -> Double {
    func time(_ size: Int) throws -> Double {
      let input = try prepare(size)
      return try (0..<3).map { _ in
        let start = processorTime()
        try work(input)
        return processorTime() - start
      }.min() ?? 0
    }
    let small = try time(size)
    return try time(size * 8) / max(small, 1)
  }

  /// A bound between the growth of linear work, also with a logarithm or a slow memory, and that of quadratic work.
  package static let bound = 28.0

  /// In nanoseconds.
  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
