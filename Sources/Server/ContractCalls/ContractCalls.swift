package import Callers
package import RPC
package import Wire

/// Calls the methods of the contract in this process. The services implement it, and the console depends on nothing else of
/// them.
package protocol ContractCalls: Sendable {
  /// The role that the method `path` (`/package.Service/Method`) needs; `nil` if every caller may call it.
  func role(of path: String) -> Role?

  /// Calls the method `path` for the authenticated `caller`, on behalf of `person`.
  ///
  /// - Throws: the status with which a remote caller's call would fail, such as `PERMISSION_DENIED`.
  func call<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ request: Request, as caller: Caller, person: CallingPerson
  ) async throws(Status) -> Response

  /// Calls the method `path`, which sends a stream of messages in response to one, and runs until the stream ends, also
  /// because `renewal` shows that the caller has lost the permission. Calls `began` when the method has accepted the call,
  /// and `receive`, which must not block, with each message.
  ///
  /// - Throws: the status with which the stream ended, unless it is `OK`.
  func follow<Request: WireMessage, Response: WireMessage>(
    _ path: String, _ request: Request, as caller: Caller, person: CallingPerson, renewal: CallerRenewal?,
    began: @escaping @Sendable () -> Void, receive: @escaping @Sendable (Response) -> Void
  ) async throws(Status)
}

/// The person on whose behalf this process calls a method, for the audit entry of the call.
package struct CallingPerson: Sendable {
  /// The name of the person as it is signed in, for `actor` of the audit entry.
  package let name: String
  /// The IP address of the person, or of the proxy before this service; empty if it is not known.
  package let address: String
  /// The reason of a call whose request has no field for one; empty: none.
  package let reason: String
  /// The id, not 0, of the person's request that the call serves. The logs and the audit entries of all its calls have it.
  package let request: UInt64

  /// Creates a person. `request` must not be 0, which is no valid id.
  package init(name: String, address: String, reason: String, request: UInt64) {
    self.name = name
    self.address = address
    self.reason = reason
    self.request = request
  }
}

/// Looks the caller of a stream up again.
package struct CallerRenewal: Sendable {
  /// The callers whose replacement may take the permission away.
  package let callers: CurrentCallers
  /// The caller under the policy in effect; `nil` if it is unknown now.
  package let current: @Sendable () -> Caller?

  /// Creates a renewal. `current` runs after each replacement of the callers, on the thread of the replacement.
  package init(_ callers: CurrentCallers, current: @escaping @Sendable () -> Caller?) {
    self.callers = callers
    self.current = current
  }
}
