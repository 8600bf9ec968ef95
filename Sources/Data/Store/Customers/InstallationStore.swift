package import AppStore

/// One installation of an app that exchanged the documents of a purchase or of the app install for a token on a day.
package struct Installation: Hashable, Sendable {
  /// The length of ``id`` in bytes.
  package static let idSize = 16

  /// The purchase or app install.
  package let line: LineKey
  /// In UTC, in days since 1970.
  package let day: Int64
  /// The first bytes of a hash of what the device sent, 16 of them.
  package let id: [UInt8]

  /// Creates an installation from its parts.
  package init(line: LineKey, day: Int64, id: [UInt8]) {
    self.line = line
    self.day = day
    self.id = id
  }
}

/// Reads the installations of purchases.
package protocol InstallationReader {
  /// Returns the ids of the installations of a purchase on a day, in UTC and days since 1970.
  func installations(of line: LineKey, on day: Int64) throws(StoreError) -> Set<[UInt8]>
}

/// Stores the installations of purchases. They are not derived from evidence.
package protocol InstallationStore: InstallationReader {
  /// Stores an installation, unless it is stored already.
  func put(_ installation: Installation) throws(StoreError)

  /// Deletes at most `limit` installations of an app from before `day`, oldest first.
  ///
  /// - Returns: the number of deleted installations.
  @discardableResult
  func deleteInstallations(
    of appID: String, in environment: Environment, before day: Int64, limit: Int
  ) throws(StoreError) -> Int

  /// Deletes all installations of a purchase.
  ///
  /// - Returns: the number of deleted installations.
  func eraseInstallations(of line: LineKey) throws(StoreError) -> Int64
}
