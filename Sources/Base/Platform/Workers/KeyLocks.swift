/// Locks for keys; a task can hold several at once. Waiting does not end when the task is cancelled, so a holder
/// must be bounded in time.
package actor KeyLocks {
  private var held: Set<String> = []
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init() {}

  /// Waits until all of `wanted` are free, and locks them.
  package func lock(_ wanted: [String]) async {
    while !held.isDisjoint(with: wanted) {
      await withCheckedContinuation { waiting.append($0) }
    }
    held.formUnion(wanted)
  }

  /// Unlocks keys that the caller has locked.
  package func unlock(_ done: [String]) {
    held.subtract(done)
    let waiting = waiting
    self.waiting = []
    for continuation in waiting { continuation.resume() }
  }
}

extension KeyLocks {
  /// Runs `body` while the caller alone holds `key`.
  /// A nested call for the same key never returns.
  package nonisolated func holding<Value: Sendable, Failure: Error>(
    _ key: String, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await lock([key])
    let result: Result<Value, Failure>
    do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
    await unlock([key])
    return try result.get()
  }
}
