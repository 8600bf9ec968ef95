/// The numbers of connections that the listeners of a process may hold, so that its file descriptors suffice.
///
/// The listeners share what the limit of open files leaves: half for gRPC, three eighths for the edge, and the rest for the
/// sandbox and the console.
/// So idle connections to the edge cannot stop gRPC, and no number of connections stops the store, the calls to
/// Apple, or webhooks.
package struct ConnectionBudget: Hashable, Sendable {
  /// The maximum number of connections of the gRPC listener.
  package let grpc: Int
  /// The maximum number of connections of the HTTP listener.
  package let edge: Int
  /// The maximum number of connections of each other listener: of the sandbox and the console.
  package let other: Int

  /// Descriptors for the store's readers and outgoing connections.
  private static let reserve = 64
  /// The service cannot run with fewer descriptors besides those that are open.
  private static let minFree = 48

  /// Shares the free descriptors.
  ///
  /// - Parameters:
  ///   - limit: the limit of open descriptors.
  ///   - open: the number of descriptors that the process has open without connections.
  ///   - configured: the maximum number of connections of each listener.
  ///   - others: the number of listeners besides those of gRPC and HTTP.
  /// - Throws: ``ConnectionBudgetError`` if the limit is too low to run.
  package init(limit: Int, open: Int, configured: Int, others: Int) throws(ConnectionBudgetError) {
    let free = limit - open
    guard free >= Self.minFree else {
      throw ConnectionBudgetError(limit: limit, needed: open + Self.minFree)
    }
    let available = max(free - Self.reserve, free / 4)
    grpc = min(configured, available / 2)
    edge = min(configured, available * 3 / 8)
    other = min(configured, max(available / 8 / max(others, 1), 1))
  }
}

/// The limit of open files is too low to run.
package struct ConnectionBudgetError: Error, Hashable, CustomStringConvertible {
  /// The limit of open descriptors.
  package let limit: Int
  /// The lowest limit with which the process can run.
  package let needed: Int

  package var description: String {
    "the limit of \(limit) open files is too low; raise it to at least \(needed), better 65536 "
      + "(ulimit -n, LimitNOFILE= of systemd)"
  }
}
