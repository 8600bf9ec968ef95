/// Work that is given up after a time.
enum TimeLimit {
  /// Returns the value of `body`, or `nil` after `limit`. It does not wait for a body that ignores its cancellation.
  static func run<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async -> Value
  ) async -> Value? {
    let (results, result) = AsyncStream.makeStream(of: Value?.self, bufferingPolicy: .bufferingOldest(1))
    let work = Task { result.yield(await body()) }
    let alarm = Task {
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      result.yield(nil)
    }
    defer {
      work.cancel()
      alarm.cancel()
    }
    for await value in results { return value }
    return nil
  }
}
