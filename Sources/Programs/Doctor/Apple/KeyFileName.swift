/// The names that Apple gives to files of keys: `SubscriptionKey_ID.p8` for in-app purchases, `AuthKey_ID.p8` for other APIs.
///
/// The keys look alike, and Apple rejects all wrong ones in the same way.
package enum KeyFileName {
  /// A contradiction between the name of the file of an `in_app_purchase_key` and the configuration; `nil` if the file has a
  /// name of the operator's.
  package static func contradiction(path: String, keyID: String) -> String? {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    guard name.hasSuffix(".p8") else { return nil }
    if name.hasPrefix("AuthKey_") {
      return "'\(name)' is the name of a key for App Store Connect's API, push notifications or DeviceCheck; "
        + "the file of an In-App Purchase key is SubscriptionKey_ID.p8"
    }
    let prefix = "SubscriptionKey_"
    guard name.hasPrefix(prefix) else { return nil }
    let id = name.dropFirst(prefix.count).dropLast(".p8".count)
    return id == keyID ? nil : "the name '\(name)' has the key id \(id), and key_id is \(keyID)"
  }
}
