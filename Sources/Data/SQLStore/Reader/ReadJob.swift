internal import Store
internal import Synchronization

/// A read that is queued or running.
struct ReadJob: Sendable {
  let priority: ReadPriority
  let control: ReadControl
  /// Runs the body over the snapshot and resumes the caller.
  let run: @Sendable (SQLReader) -> Void
  /// Resumes the caller without running the body.
  let reject: @Sendable (StoreError) -> Void

  /// Creates a job that passes the result of `body` to `deliver`, once.
  init<Value: Sendable>(
    _ priority: ReadPriority, _ control: ReadControl,
    _ body: @escaping @Sendable (any StoreSnapshot) throws(StoreError) -> Value,
    deliver: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) {
    self.priority = priority
    self.control = control
    reject = { deliver(.failure($0)) }
    run = { reader in
      do throws(StoreError) {
        deliver(.success(try reader.snapshot(control, body)))
      } catch {
        // The engine reports only that a statement was interrupted; `control` has the reason.
        deliver(.failure(control.stopReason ?? error))
      }
    }
  }
}

/// Decides whether a read must stop because its deadline passed, its task was cancelled, or the store is
/// closing.
final class ReadControl: Sendable {
  let deadline: ContinuousClock.Instant?
  private let stopped = Mutex(StoreError?.none)

  init(deadline: ContinuousClock.Instant?) { self.deadline = deadline }

  /// Stops the read with `reason`, unless it is stopped already.
  func stop(_ reason: StoreError) { stopped.withLock { $0 = $0 ?? reason } }

  /// The error to stop with; `nil` if the read may continue.
  var stopReason: StoreError? {
    if let reason = stopped.withLock({ $0 }) { return reason }
    guard let deadline, deadline <= .now else { return nil }
    return .deadlineExceeded
  }
}
