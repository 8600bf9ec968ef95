internal import Wire

extension ScopedRequest {
  /// Creates a request about `scope`; `build` sets its further fields.
  static func about(_ scope: Scope, _ build: (inout Self) -> Void = { _ in }) -> Self {
    .with {
      $0.app = scope.app
      $0.environment = scope.environment
      build(&$0)
    }
  }
}

extension CustomerRequest {
  /// Creates a request about the customer `id` in `scope`; `build` sets its further fields.
  static func about(
    _ id: String, in scope: Scope, _ build: (inout Self) -> Void = { _ in }
  ) -> Self {
    .about(scope) {
      $0.customerId = id
      build(&$0)
    }
  }
}

extension ScopedRequest where Self: SizedPageRequest {
  /// Creates a request for `rows` in `scope`; `build` sets its further fields.
  static func page(
    _ rows: RequestedRows, in scope: Scope, _ build: (inout Self) -> Void = { _ in }
  ) -> Self {
    .about(scope) {
      $0.pageToken = rows.token
      $0.pageSize = rows.size
      build(&$0)
    }
  }
}
