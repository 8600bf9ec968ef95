internal import AppStore
internal import Callers
internal import HTTP
internal import RPC

/// Establishes the caller by its bearer token or client certificate, for methods that need a role. Usable on any
/// thread.
struct AuthenticationInterceptor: Interceptor, Sendable {
  let callers: CurrentCallers
  let now: @Sendable () -> Instant

  func start(_ call: inout CallInFlight) throws(Status) {
    try call.authenticate(with: Authenticator(callers, now: now))
  }
}

/// The same with a cache of credentials that belongs to one event loop.
struct CachingAuthenticationInterceptor: Interceptor {
  let authenticator: Authenticator

  func start(_ call: inout CallInFlight) throws(Status) { try call.authenticate(with: authenticator) }
}

extension CallInFlight {
  fileprivate mutating func authenticate(with authenticator: Authenticator) throws(Status) {
    guard method.role != nil else { return }
    do throws(CallerError) {
      let caller = try authenticator.caller(
        context.headers, certificateNames: context.peer?.names ?? [])
      self.caller = caller
      context.caller = caller.name
    } catch {
      throw Status(error)
    }
  }
}
