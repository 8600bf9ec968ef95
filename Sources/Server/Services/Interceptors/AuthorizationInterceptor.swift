internal import Callers
internal import RPC

/// Checks the role of the caller, and that it may access every app that a request names.
struct AuthorizationInterceptor: Interceptor, Sendable {
  func start(_ call: inout CallInFlight) throws(Status) {
    guard let role = call.method.role, let caller = call.caller, !caller.has(role) else { return }
    throw Status(CallerError.roleMissing(caller: caller.name, needed: role))
  }

  func receive(_ message: UnsafeRawBufferPointer, _ call: inout CallInFlight) throws(Status) {
    guard let caller = call.caller, let allowed = caller.apps else { return }
    guard let apps = call.method.apps(in: message), !apps.isEmpty else {
      throw Status(CallerError.needsAllApps(caller: caller.name))
    }
    if let other = apps.first(where: { !allowed.contains($0) }) {
      throw Status(CallerError.appNotAllowed(caller: caller.name, app: other))
    }
  }
}
