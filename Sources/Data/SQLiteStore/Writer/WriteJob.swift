internal import SQLite
internal import Store

/// One write that waits for its turn.
struct WriteJob: Sendable {
  /// What came of the body, and how to tell whoever waits for it.
  struct Outcome {
    /// Whether what the body wrote is to stay.
    let isKept: Bool
    /// Why the body wants nothing written, if something was wrong.
    var failure: StoreError?
    /// Tells the caller; `failure` says why even a body that went through was not made durable.
    let finish: (_ failure: StoreError?) -> Void
  }

  /// Whether nothing of it is to stay.
  let isRehearsal: Bool
  /// Runs the body; once more if others of its batch had to be taken back.
  let run: @Sendable (SQLiteTransaction) -> Outcome
  /// Tells the caller that the body was not run.
  let refuse: @Sendable (StoreError) -> Void

  private init(
    isRehearsal: Bool, run: @escaping @Sendable (SQLiteTransaction) -> Outcome,
    refuse: @escaping @Sendable (StoreError) -> Void
  ) {
    self.isRehearsal = isRehearsal
    self.run = run
    self.refuse = refuse
  }

  /// A job that hands `deliver` the body's outcome once that is durable.
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

  /// A job of which nothing stays, whatever comes of it.
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
