package import Store

/// A queued write.
package struct WriteJob: Sendable {
  /// The result of a body, and how to deliver it to the caller.
  struct Outcome {
    /// Whether the writes of the body are committed.
    let isCommitted: Bool
    /// The error of the body, if it threw one.
    var failure: StoreError?
    /// Resumes the caller; `failure` is the commit's error, which replaces the result of a successful body.
    let finish: (_ failure: StoreError?) -> Void
  }

  /// Whether the job is a dry run, whose writes are rolled back.
  let isDryRun: Bool
  /// The rows that the body will read, as far as they are known.
  let expected: ExpectedReads
  /// Runs the body; a second time, if the failure of another body in the batch rolled it back.
  let run: @Sendable (SQLTransaction) -> Outcome
  /// Resumes the caller without running the body.
  package let reject: @Sendable (StoreError) -> Void

  private init(
    isDryRun: Bool, expecting expected: ExpectedReads, run: @escaping @Sendable (SQLTransaction) -> Outcome,
    reject: @escaping @Sendable (StoreError) -> Void
  ) {
    self.isDryRun = isDryRun
    self.expected = expected
    self.run = run
    self.reject = reject
  }

  /// Creates a job that passes the result of the body to `deliver` after the commit.
  init<Value: Sendable>(
    expecting expected: ExpectedReads = ExpectedReads(),
    _ body: @escaping @Sendable (SQLTransaction) throws(StoreError) -> Value,
    deliver: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) {
    isDryRun = false
    self.expected = expected
    reject = { deliver(.failure($0)) }
    run = { transaction in
      do throws(StoreError) {
        let value = try body(transaction)
        return Outcome(isCommitted: true) { deliver($0.map(Result.failure) ?? .success(value)) }
      } catch {
        // A writer that was replaced reads what is no longer true; the commit shows it.
        return Outcome(isCommitted: false, failure: error) { deliver(.failure($0 ?? error)) }
      }
    }
  }

  /// Creates a dry run: its writes are always rolled back.
  static func dryRun<Value: Sendable>(
    _ body: @escaping @Sendable (SQLTransaction) throws(StoreError) -> Value,
    deliver: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) -> WriteJob {
    let run: @Sendable (SQLTransaction) -> Outcome = { transaction in
      do throws(StoreError) {
        let value = try body(transaction)
        return Outcome(isCommitted: false) { _ in deliver(.success(value)) }
      } catch {
        return Outcome(isCommitted: false, failure: error) { _ in deliver(.failure(error)) }
      }
    }
    return WriteJob(
      isDryRun: true, expecting: ExpectedReads(), run: run, reject: { deliver(.failure($0)) })
  }
}
