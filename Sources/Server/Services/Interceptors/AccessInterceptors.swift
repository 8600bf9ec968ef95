internal import AppStore
internal import Callers
internal import HTTP
internal import RPC

/// Establishes the caller by bearer token or client certificate, if the method needs a role. Thread-safe.
struct AuthenticationInterceptor: Interceptor, Sendable {
  let callers: CurrentCallers
  /// The clock against which signed tokens expire.
  let now: @Sendable () -> Instant
  /// Counts the invalid tokens of each network.
  let invalidTokens: AddressLimiter

  /// Authenticates the call, unless its method is open to everyone.
  ///
  /// - Throws: `UNAUTHENTICATED`, or `RATE_LIMIT` for a network with too many invalid tokens.
  func start(_ call: inout CallInFlight) throws(Status) {
    let instant = now()
    call.authenticatedAt = instant
    try call.authenticate(with: Authenticator(callers, now: { instant }, invalidTokens: invalidTokens))
  }

  /// As at the start of the stream: a token that has expired since then does not end it. The limit of invalid tokens
  /// does not count, because the token was valid.
  func revalidate(_ call: inout CallInFlight, _ message: [UInt8]?) throws(Status) {
    let instant = call.authenticatedAt ?? now()
    try call.authenticate(with: Authenticator(callers, now: { instant }))
  }
}

/// The same with a cache of credentials that belongs to one event loop.
struct CachingAuthenticationInterceptor: Interceptor {
  /// Caches the callers of credentials; confined to the event loop.
  let authenticator: Authenticator

  func start(_ call: inout CallInFlight) throws(Status) { try call.authenticate(with: authenticator) }
}

extension CallInFlight {
  /// Finds the caller by token, certificate or network; a method without access control has none.
  fileprivate mutating func authenticate(with authenticator: Authenticator) throws(Status) {
    guard method.needsCaller else { return }
    do throws(CallerError) {
      let caller = try authenticator.caller(
        context.headers, certificateNames: context.peer?.names ?? [], network: context.network)
      self.caller = caller
      context.caller = caller.name
      context.callerRoles = caller.roleBits
    } catch {
      throw Status(error)
    }
  }
}

extension CallContext {
  /// Whether the caller has `role`, for methods whose response depends on more than the role they need.
  func hasRole(_ role: Role) -> Bool { callerRoles & role.bit != 0 }
}

/// Checks the role of the caller, and that it may access every app that a request names.
struct AuthorizationInterceptor: Interceptor, Sendable {
  /// Requires the role of the method; `admin` includes each.
  ///
  /// - Throws: `ROLE_MISSING`.
  func start(_ call: inout CallInFlight) throws(Status) {
    guard let role = call.method.role, let caller = call.caller, !caller.has(role) else { return }
    throw Status(CallerError.roleMissing(caller: caller.name, needed: role))
  }

  /// Requires that a caller with some apps may access all apps in the encoded request. A request without an app is
  /// permitted if the handler limits its response by ``CallScope/apps(of:)``.
  ///
  /// - Throws: `APP_NOT_ALLOWED`, or `APP_SCOPE_REQUIRED` for a method about all apps.
  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status) {
    guard let caller = call.caller, let allowed = caller.apps else { return }
    guard let apps = call.method.apps(in: message), !apps.isEmpty else {
      guard !call.method.limitsApps else { return }
      throw Status(CallerError.needsAllApps(caller: caller.name))
    }
    if let other = apps.first(where: { !allowed.contains($0) }) {
      throw Status(CallerError.appNotAllowed(caller: caller.name, app: other))
    }
  }
}

extension AuthorizationInterceptor {
  /// Both checks for the caller that authentication has found again.
  func revalidate(_ call: inout CallInFlight, _ message: [UInt8]?) throws(Status) {
    try start(&call)
    guard let message else { return }
    try message.withUnsafeBufferPointer { buffer throws(Status) in
      try receive(UnsafeRawBufferPointer(buffer), &call)
    }
  }
}

/// Takes a token from the bucket of the caller, which all threads share. Each replica has its part of the limit.
struct RateLimitInterceptor: Interceptor, Sendable {
  /// The processes among which the limit is divided.
  let replicas: ReplicaCount

  /// Takes one call, also for a stream, whose messages are not limited.
  ///
  /// - Throws: `RATE_LIMIT` with the delay until the next call, rounded up to a millisecond.
  func start(_ call: inout CallInFlight) throws(Status) {
    guard let caller = call.caller, let bucket = caller.bucket,
      let wait = bucket.take(at: call.startTicks, dividedBy: replicas.value)
    else { return }
    let milliseconds = (wait + 999_999) / 1_000_000
    throw Status(CallerError.rateLimited(caller: caller.name, retryAfterMilliseconds: milliseconds))
  }
}
