internal import AppStore
package import JSON

// The contents of a file, for people and programs.
extension StoreKitImport {
  /// One line for each product and each setting.
  package var summary: [String] {
    catalog.apps.flatMap { app in
      ["app \(app.id) (\(app.identity.bundleID))"]
        + app.products.map { product in
          let price =
            product.price.map { "\($0 / 1000).\(Self.decimals($0)) \(product.currency)" } ?? "no price"
          let group =
            product.subscriptionGroupIdentifier.map { ", group \($0), level \(product.level)" } ?? ""
          let period = product.period.map { ", \($0)" } ?? ""
          return "product \(product.productId): \(product.type.rawValue)\(group)\(period), \(price)"
        }
    }
      + catalog.settings.map { setting in
        let members = setting.members.filter { $0.name != "app" }.map {
          "\($0.name)=\($0.value.stringValue ?? $0.value.text)"
        }
        return "setting \(setting.action.rawValue): \(members.joined(separator: " "))"
      }
  }

  private static func decimals(_ price: Int64) -> String {
    let text = String(price % 1000)
    let padded = String(repeating: "0", count: 3 - text.utf8.count) + text
    return padded.hasSuffix("0") ? String(padded.dropLast()) : padded
  }

  package var json: JSONObject {
    [
      "apps": .array(catalog.apps.map { .object($0.json) }),
      "settings": .array(
        catalog.settings.map { ["action": .string($0.action.rawValue), "with": .object($0.members)] }),
      "notImported": .array(notImported.map(JSONValue.string)),
    ]
  }
}
