internal import Store

/// One write that waits for its turn.
struct WriteJob: Sendable {
  /// What came of the body, and how to tell whoever waits for it.
  struct Outcome {
    /// Why the body wants nothing written; `nil` if it went through.
    let failure: StoreError?
    /// Tells the caller; `failure` says why even a body that went through was not made durable.
    let finish: (_ failure: StoreError?) -> Void
  }

  /// Runs the body.
  let run: @Sendable (SQLiteTransaction) -> Outcome
  /// Tells the caller that the body was not run.
  let refuse: @Sendable (StoreError) -> Void

  /// A job that hands `deliver` the body's outcome once that is durable.
  init<Value: Sendable>(
    _ body: @escaping @Sendable (SQLiteTransaction) throws(StoreError) -> Value,
    deliver: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) {
    refuse = { deliver(.failure($0)) }
    run = { transaction in
      do throws(StoreError) {
        let value = try body(transaction)
        return Outcome(failure: nil) { deliver($0.map(Result.failure) ?? .success(value)) }
      } catch {
        return Outcome(failure: error) { _ in deliver(.failure(error)) }
      }
    }
  }
}
