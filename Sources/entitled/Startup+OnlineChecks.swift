internal import Configuration
internal import Entitlements
internal import Services

extension Startup {
  /// What asks certificate authorities; `nil` if no app wants that.
  ///
  /// Nothing in this build can ask over the network, and to start without what the operator relies on would
  /// be worse than not to start.
  static func gate(_ configuration: ServiceConfiguration) throws -> OnlineCheckGate? {
    for app in configuration.apps where app.onlineChecks != .off {
      throw Failure("online_checks of the app \(app.definition.id): this build cannot ask, it must be off")
    }
    return nil
  }
}
