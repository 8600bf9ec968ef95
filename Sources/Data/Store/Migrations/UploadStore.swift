/// The uploaded inputs of migration jobs, in a store that several replicas share. Each has a name.
///
/// Calls block for one or two round trips.
package protocol UploadStore: Sendable {
  /// Appends a piece, if `offset` is the size of the upload and no other call has appended there. The first piece creates
  /// the upload.
  ///
  /// - Returns: the size afterwards, in bytes.
  /// A caller whose result is not `offset` plus the size of `data` was not the first there, and resumes at the
  /// result.
  func append(_ data: [UInt8], to name: String, at offset: Int64) throws(StoreError) -> Int64

  /// Returns the size in bytes; `nil` if there is no such upload.
  func size(of name: String) throws(StoreError) -> Int64?

  /// Returns at most `count` bytes from `offset`, fewer at the end of a piece; none at the end of the upload.
  func read(_ name: String, at offset: Int64, upTo count: Int) throws(StoreError) -> [UInt8]

  /// Overwrites the bytes from an offset with as many others.
  /// The size stays; bytes from the end of the upload on are left out. It can be repeated.
  func overwrite(_ name: String, at offset: Int64, with bytes: [UInt8]) throws(StoreError)

  /// Deletes an upload, if it exists.
  func delete(_ name: String) throws(StoreError)

  /// Returns all uploads, by name.
  func all() throws(StoreError) -> [StoredUpload]
}

/// An upload, and the room that it takes.
package struct StoredUpload: Hashable, Sendable {
  /// A small piece takes as much room as one of this many bytes.
  package static let minPieceBytes: Int64 = 4_096

  /// Unique among the uploads.
  package let name: String
  /// The bytes that it takes; see ``minPieceBytes``.
  package let bytes: Int64
  /// The time since the last piece.
  package let age: Duration

  /// Creates an upload from its parts.
  package init(name: String, bytes: Int64, age: Duration) {
    self.name = name
    self.bytes = bytes
    self.age = age
  }
}
