internal import AppStore

/// The apps that the service answers for, by the operator's names for them.
package struct Catalog: Hashable, Sendable {
  private let apps: [String: AppDefinition]

  /// A catalog of `apps`. Of two apps with one id the later counts.
  package init(_ apps: [AppDefinition]) {
    self.apps = Dictionary(apps.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
  }

  /// The app that requests call `id`, or `nil` if the operator configured none of that name.
  package subscript(id: String) -> AppDefinition? { apps[id] }

  /// The app of that name; one that was taken out of the configuration sells nothing.
  package func definition(of id: String) -> AppDefinition {
    apps[id]
      ?? AppDefinition(
        id: id, identity: AppIdentity(bundleID: "", appAppleID: nil), environments: [], products: [])
  }

  /// The names of all apps, in alphabetical order.
  package var appIDs: [String] { apps.keys.sorted() }
}
