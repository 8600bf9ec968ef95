internal import SQLite
internal import Store

/// A queued write.
struct WriteJob: Sendable {
  /// The result of a body, and how to deliver it to the caller.
  struct Outcome {
    /// Whether the writes of the body are committed.
    let isKept: Bool
    /// The error of the body, if it threw one.
    var failure: StoreError?
    /// Resumes the caller; `failure` is the commit's error, which replaces the result of a successful body.
    let finish: (_ failure: StoreError?) -> Void
  }

  /// Whether the job is a dry run, whose writes are rolled back.
  let isRehearsal: Bool
  /// Runs the body; a second time, if the failure of another body in the batch rolled it back.
  let run: @Sendable (SQLiteTransaction) -> Outcome
  /// Resumes the caller without running the body.
  let refuse: @Sendable (StoreError) -> Void

  private init(
    isRehearsal: Bool, run: @escaping @Sendable (SQLiteTransaction) -> Outcome,
    refuse: @escaping @Sendable (StoreError) -> Void
  ) {
    self.isRehearsal = isRehearsal
    self.run = run
    self.refuse = refuse
  }

  /// Creates a job that passes the result of the body to `deliver` after the commit.
  init<Value: Sendable>(
    _ body: @escaping @Sendable (SQLiteTransaction) throws(StoreError) -> Value,
    deliver: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) {
    isRehearsal = false
    refuse = { deliver(.failure($0)) }
    run = { transaction in
      do throws(StoreError) {
        let value = try body(transaction)
        return Outcome(isKept: true) { deliver($0.map(Result.failure) ?? .success(value)) }
      } catch {
        return Outcome(isKept: false, failure: error) { _ in deliver(.failure(error)) }
      }
    }
  }

  /// Creates a dry run: its writes are always rolled back.
  static func rehearsal<Value: Sendable>(
    _ body: @escaping @Sendable (SQLiteTransaction) throws(StoreError) -> Value,
    deliver: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) -> WriteJob {
    let run: @Sendable (SQLiteTransaction) -> Outcome = { transaction in
      do throws(StoreError) {
        let value = try body(transaction)
        return Outcome(isKept: false) { _ in deliver(.success(value)) }
      } catch {
        return Outcome(isKept: false, failure: error) { _ in deliver(.failure(error)) }
      }
    }
    return WriteJob(isRehearsal: true, run: run, refuse: { deliver(.failure($0)) })
  }
}
