internal import AppStore
internal import Entitlements
internal import Ledger
internal import Store
internal import Wire

extension GetCustomerResponse {
  /// Adds what explains a surprising answer: whether the customer is known here, access elsewhere, and installs of the app.
  mutating func addHints(
    about customer: CustomerKey, in app: AppDefinition, at times: EnvironmentTimes, _ mask: ReadMask,
    _ reader: any StoreSnapshot
  ) throws(StoreError) {
    if mask.includes("known") { known = try reader.isKnown(customer) }
    if mask.includes("active_in_environments") {
      activeInEnvironments = try reader.environments(
        inWhich: customer.customerID, isEntitledTo: app, at: times, except: customer.environment
      ).map(Wire.Environment.init)
    }
    guard mask.includes("app_installs") else { return }
    appInstalls = (try reader.facts(of: customer)?.appTransactions ?? []).map(AppInstall.init)
  }
}

extension AppInstall {
  fileprivate init(_ fact: AppTransactionFact) {
    self.init()
    appTransactionId = fact.appTransactionID
    originalApplicationVersion = fact.originalApplicationVersion
    originalPurchaseDate = fact.originalPurchaseDate.map(GoogleProtobuf.Timestamp.init)
    preorderDate = fact.preorderDate.map(GoogleProtobuf.Timestamp.init)
  }
}
