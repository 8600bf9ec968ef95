/// What Apple calls one app.
package struct AppIdentity: Hashable, Sendable {
  /// The bundle identifier, such as `com.example.app`.
  package let bundleID: String
  /// The app's number in the App Store; `nil` if the operator did not say, and then it is not compared.
  package let appAppleID: Int64?

  /// An app by its bundle identifier and, if known, its App Store number.
  package init(bundleID: String, appAppleID: Int64?) {
    self.bundleID = bundleID
    self.appAppleID = appAppleID
  }
}
