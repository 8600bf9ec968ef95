internal import AppStore
package import JSON

/// The catalog of a StoreKit configuration file, which Xcode writes as `NAME.storekit`.
///
/// The format is not documented by Apple; its members are those of the files that Xcode 12 to 26 write. Everything in
/// a file that the sandbox cannot do, or does not know, is in ``notImported``.
package struct StoreKitImport: Sendable {
  /// The one app, with the products of the file, at least one.
  package let catalog: SandboxCatalog
  /// The features of the file that the sandbox lacks, in the order of the file: the place, and the reason or
  /// the alternative.
  package let notImported: [String]

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - file: the document.
  ///   - bundleID: the app's bundle id, which the file does not have.
  ///   - app: the app's id in the sandbox; `nil` for the last part of the bundle id.
  /// - Throws: ``ActionError`` if the document is no StoreKit configuration file or has no product.
  package init(_ file: JSONObject, bundleID: String, app: String? = nil) throws(ActionError) {
    let id = app ?? bundleID.split(separator: ".").last.map(String.init) ?? bundleID
    var reader = StoreKitReader(app: id)
    reader.read(file)
    guard !reader.products.isEmpty else {
      throw .wrongType(
        member: "storekit",
        expected: reader.notImported.isEmpty
          ? "a StoreKit configuration file with products" : reader.notImported.joined(separator: "; "))
    }
    let sold = SandboxApp(
      id: id, identity: AppIdentity(bundleID: bundleID, appAppleID: reader.appAppleID),
      products: reader.products.sorted { $0.productId < $1.productId })
    catalog = SandboxCatalog(apps: [sold], settings: reader.settings)
    notImported = reader.notImported
  }

  /// Parses a file.
  ///
  /// - Throws: ``ActionError/malformedJSON(_:)``, and as the initializer from a document.
  package init(parsing bytes: [UInt8], bundleID: String, app: String? = nil) throws(ActionError) {
    try self.init(Parameters(body: bytes).json, bundleID: bundleID, app: app)
  }
}
