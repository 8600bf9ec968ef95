internal import AppStore
internal import Entitlements
internal import Store

extension SQLSession {
  func catalogChanges(of appID: String) throws(StoreError) -> [CatalogChange] {
    try rows("SELECT fingerprint, at FROM catalog_change WHERE app = ? ORDER BY change_id", appID) { row in
      CatalogChange(
        fingerprint: UInt64(bitPattern: row.number(0)), at: Instant(millisecondsSince1970: row.number(1)))
    }
  }
}

extension SQLTransaction {
  func record(_ change: CatalogChange, of appID: String) throws(StoreError) {
    guard try catalogChanges(of: appID).last?.fingerprint != change.fingerprint else { return }
    try run(
      "INSERT INTO catalog_change (app, fingerprint, at) VALUES (?, ?, ?)", appID,
      Int64(bitPattern: change.fingerprint), change.at)
  }
}
