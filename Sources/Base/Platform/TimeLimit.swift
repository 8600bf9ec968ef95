/// Returns the result of `work`, or `nil` if it takes longer than `limit` or the task is cancelled. The task of `work` is
/// then cancelled; a call that ignores the cancellation runs on and its result is discarded.
package func withTimeLimit<Value: Sendable>(
  _ limit: Duration, _ work: @escaping @Sendable () async -> Value
) async -> Value? {
  let (results, result) = AsyncStream.makeStream(of: Value?.self, bufferingPolicy: .bufferingOldest(1))
  let task = Task { result.yield(await work()) }
  let timer = Task {
    guard (try? await Task.sleep(for: limit)) != nil else { return }
    result.yield(nil)
  }
  defer {
    task.cancel()
    timer.cancel()
  }
  for await value in results { return value }
  return nil
}
