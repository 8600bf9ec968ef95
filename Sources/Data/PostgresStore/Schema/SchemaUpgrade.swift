internal import Foundation

/// The change of the tables from one schema version to the next, in two steps between which programs of both versions
/// use the store.
package struct SchemaUpgrade: Sendable {
  /// The version that it leads to.
  let version: Int64
  /// Adds what the new version needs. Programs of the version before do not notice: columns are nullable or have a
  /// default, and nothing is renamed or removed.
  let expand: String
  /// Removes what only the version before needs, after its last program has ended.
  let contract: String

  /// The upgrades after version 1, in order. A released one never changes.
  static let all: [SchemaUpgrade] = released + test

  private static let released: [SchemaUpgrade] = []

  #if DEBUG
  /// A version that the tests use beside the current one: `ENTITLED_TEST_SCHEMA=2`.
  private static let test: [SchemaUpgrade] =
    ProcessInfo.processInfo.environment["ENTITLED_TEST_SCHEMA"] != "2"
    ? []
    : [
      SchemaUpgrade(
        version: 2, expand: "ALTER TABLE customer ADD COLUMN test_expanded BIGINT DEFAULT 1",
        contract: "ALTER TABLE customer ALTER COLUMN test_expanded SET NOT NULL")
    ]
  #else
  private static let test: [SchemaUpgrade] = []
  #endif
}
