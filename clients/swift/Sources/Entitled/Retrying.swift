import GRPCCore

extension EntitledClient {
  /// Returns the result of a call that only reads. The call is repeated up to three times while it fails because the
  /// service cannot be reached: after a growing delay, or after the one that the service asks for, if that is longer. It
  /// is not repeated after the client's `timeout`, so a delay beyond it fails at once.
  public func retrying<Value: Sendable>(
    _ read: () async throws -> Value
  ) async throws(EntitledError) -> Value {
    try await repeating { _ in try await read() }
  }

  /// Repeats a call as ``retrying(_:)`` does, and passes it the options that end it at the deadline of all attempts.
  func repeating<Value: Sendable>(
    _ read: (CallOptions) async throws -> Value
  ) async throws(EntitledError) -> Value {
    let deadline = ContinuousClock.now + timeout
    func attempt() async throws(EntitledError) -> Value {
      var options = CallOptions.defaults
      options.timeout = max(.zero, deadline - .now)
      return try await EntitledError.wrapping { try await read(options) }
    }
    for backoff in [0.05, 0.1, 0.2] {
      do throws(EntitledError) {
        return try await attempt()
      } catch {
        let delay = max(.seconds(Double.random(in: backoff / 2...backoff)), error.retryAfter ?? .zero)
        guard error.code == .unavailable, .now + delay < deadline else { throw error }
        try? await Task.sleep(for: delay)
      }
    }
    return try await attempt()
  }
}
