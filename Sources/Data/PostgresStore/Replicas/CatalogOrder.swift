internal import PostgreSQL
internal import Store

/// The order of the catalogs by which replicas evaluate, in the table `catalog_version`: that of their first appearance.
///
/// Of two catalogs nothing else shows which one the operator wants. An older one leads again after a rollback, as soon as
/// no replica with a newer one is alive.
enum CatalogOrder {
  /// A replica that was not seen for this time, by the database's clock, does not prevent others from leading. Shorter
  /// than ``RegisteredReplica/lifetime``, because a replica that was killed must not delay a takeover.
  static let lifetime = ReplicaRegistrar.interval + .seconds(3)

  /// Assigns the next number to a catalog that the store does not have. If another catalog gets this number at the same
  /// time, the catalog remains without one until its next registration.
  static func registration(of catalog: UInt64) -> PostgresRequest {
    PostgresRequest(
      """
      INSERT INTO catalog_version (catalog, number) SELECT $1, coalesce(max(number), 0) + 1 FROM catalog_version
      ON CONFLICT DO NOTHING
      """, [.int8(Int64(bitPattern: catalog))])
  }

  /// A condition: whether a replica with a newer catalog than the one in a parameter is alive.
  static func hasNewer(than parameter: Int) -> String {
    """
    EXISTS (
      SELECT 1 FROM replica JOIN catalog_version newer ON newer.catalog = replica.catalog
        JOIN catalog_version own ON own.catalog = $\(parameter)
      WHERE newer.number > own.number AND \(RegisteredReplica.isAlive(for: lifetime)))
    """
  }
}
