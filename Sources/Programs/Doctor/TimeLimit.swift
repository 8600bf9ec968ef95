internal import Synchronization

/// Returns the result of `work`, or `nil` if it takes longer than `limit`. The task of `work` is then cancelled; a call
/// that ignores the cancellation runs on and its result is dropped.
func withTimeLimit<Value: Sendable>(
  _ limit: Duration, _ work: @escaping @Sendable () async -> Value
) async -> Value? {
  await withCheckedContinuation { continuation in
    let first = FirstResult(continuation)
    let task = Task {
      let value = await work()
      first.resume(value)
    }
    let timer = Task {
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      task.cancel()
      first.resume(nil)
    }
    Task {
      _ = await task.value
      timer.cancel()
    }
  }
}

/// Resumes a continuation with the first of several results.
private final class FirstResult<Value: Sendable>: Sendable {
  private let continuation: Mutex<CheckedContinuation<Value?, Never>?>

  init(_ continuation: CheckedContinuation<Value?, Never>) { self.continuation = Mutex(continuation) }

  func resume(_ value: Value?) {
    continuation.withLock { $0.take() }?.resume(returning: value)
  }
}
