import AppStore
import Entitlements
import Store

/// The app of tests in which only its customers differ.
let ocean = AppDefinition(
  id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
  environments: [.sandbox],
  products: [ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro"])])

/// A customer of ``ocean``.
func customer(_ id: String) -> CustomerKey {
  CustomerKey(appID: "ocean", environment: .sandbox, customerID: id)
}
