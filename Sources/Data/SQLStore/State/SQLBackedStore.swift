package import Store

/// A store whose tables are those of ``Version01``, whatever the engine.
package protocol SQLBackedStore: EntitlementStore {
  /// Opens a connection for reads of whole tables.
  func makeConnection() throws(StoreError) -> any SQLConnection
}

extension SQLBackedStore {
  /// The hash of the stored state.
  package func stateHash() throws(StoreError) -> StateHash { try StateHash(makeConnection()) }

  /// Compares all derived tables, except those that depend on the time of derivation: events and precomputed
  /// answers. Facts are compared by content, so the encoding version makes no difference.
  package func differences(from other: any SQLBackedStore) throws(StoreError) -> [TableDifference] {
    try makeConnection().differences(from: other.makeConnection())
  }
}

extension SQLConnection {
  /// As ``SQLBackedStore/differences(from:)``, between the snapshots of two connections.
  func differences(from other: any SQLConnection) throws(StoreError) -> [TableDifference] {
    try inSnapshot { () throws(StoreError) in
      try other.inSnapshot { () throws(StoreError) in
        var differences: [TableDifference] = []
        for table in DerivedTable.all { differences.append(try table.difference(self, other)) }
        return differences
      }
    }
  }
}
