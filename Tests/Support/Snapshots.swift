package import Store

extension EntitlementStore {
  /// Returns the result of `body` over one snapshot, as ``read(_:deadline:_:)`` does, but accepts a body that
  /// throws any error: the compiler does not infer typed throws for a closure inside `#expect`.
  package func snapshot<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
  ) async throws -> Value {
    let result = try await read { snapshot throws(StoreError) in Result { try body(snapshot) } }
    return try result.get()
  }
}
