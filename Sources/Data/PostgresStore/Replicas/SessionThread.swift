internal import Dispatch
internal import Store

/// A thread for round trips that must not wait for other work, with its session.
///
/// The session opens with the first use, and again after it was lost.
// Unchecked: only the serial queue uses the session.
final class SessionThread: @unchecked Sendable {
  private let queue: DispatchQueue
  private let session: LazySession

  init(_ name: String, _ session: LazySession) {
    queue = DispatchQueue(label: "entitled.\(name)")
    self.session = session
  }

  /// Runs `body` after what was passed before. Waiting does not end when the task is cancelled.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable (LazySession) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      queue.async { [session] in
        do throws(StoreError) {
          continuation.resume(returning: .success(try body(session)))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }

  /// Runs `body` without waiting for it.
  func start(_ body: @escaping @Sendable (LazySession) -> Void) {
    queue.async { [session] in body(session) }
  }
}
