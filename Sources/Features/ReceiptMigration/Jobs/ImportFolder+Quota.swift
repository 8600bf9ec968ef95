internal import Foundation
internal import Ledger
internal import Store

// The uploads of an app share a limit, so that no caller fills the disk.
extension ImportFolder {
  /// 16 GiB: some two million receipts.
  package static let standardUploadBytes: Int64 = 16 << 30
  /// The maximum number of uploads of an app.
  static let maxUploads = 1_000
  /// An upload without a further piece for this long makes room for others, unless a running job reads it.
  static let unusedAge = Duration.seconds(7 * 86_400)

  /// Checks that a piece of an upload fits beside the uploads of its app.
  ///
  /// - Throws: ``MigrationError/noRoomForUpload(limit:)``.
  func requireRoom(for count: Int, in name: String, of appID: String) throws(MigrationError) {
    guard fits(count, in: name, beside: try storedUploads(of: appID)) else {
      throw .noRoomForUpload(limit: maxUploadBytes)
    }
  }

  /// Deletes unused uploads of an app, the oldest first, until a piece of the upload `id` fits. `inputs` are the paths
  /// of inputs that running jobs read.
  ///
  /// - Throws: ``MigrationError/invalidUploadID``, ``MigrationError/ledger(_:)``. If nothing may be deleted, it
  ///   returns, and the next append fails.
  func makeRoom(
    for count: Int, in id: String, of appID: String, keeping inputs: [String]
  ) throws(MigrationError) {
    let name = try Self.fileName(id, of: appID)
    let kept = Set(inputs.map(Self.name(ofPath:)) + [name])
    var uploads = try storedUploads(of: appID).sorted { $0.age > $1.age }
    for upload in uploads where upload.age >= Self.unusedAge && !kept.contains(upload.name) {
      guard !fits(count, in: name, beside: uploads) else { return }
      delete(self.uploads == nil ? "\(path)/\(upload.name)" : upload.name)
      uploads.removeAll { $0.name == upload.name }
    }
  }

  /// Whether a piece leaves the uploads of the app within both limits. `uploads` are those that exist.
  private func fits(_ count: Int, in name: String, beside uploads: [StoredUpload]) -> Bool {
    let isFirst = !uploads.contains { $0.name == name }
    return uploads.reduce(Int64(count)) { $0 + $1.bytes } <= maxUploadBytes
      && uploads.count + (isFirst ? 1 : 0) <= Self.maxUploads
  }

  /// The uploads of an app with their sizes and ages.
  private func storedUploads(of appID: String) throws(MigrationError) -> [StoredUpload] {
    let all: [StoredUpload]
    do throws(StoreError) { all = try uploads?.all() ?? files() } catch { throw .ledger(.store(error)) }
    let suffix = Self.suffix(ofUploadsOf: appID)
    return all.filter { $0.name.hasPrefix(Self.uploadPrefix) && $0.name.hasSuffix(suffix) }
  }

  /// The files of the folder; a file that disappears meanwhile is left out.
  private func files() -> [StoredUpload] {
    let now = Date()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.compactMap { name in
      guard let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)"),
        let size = (attributes[.size] as? NSNumber)?.int64Value,
        let changed = attributes[.modificationDate] as? Date
      else { return nil }
      return StoredUpload(
        name: name, bytes: max(size, StoredUpload.minPieceBytes),
        age: .seconds(now.timeIntervalSince(changed)))
    }
  }
}

extension MigrationJobManager {
  /// Appends a piece of an upload of an app, unless it was appended before; see ``ImportFolder``. If it does not fit,
  /// uploads that were unused for a week make room for it.
  ///
  /// - Returns: the size of the upload in bytes.
  /// - Throws: ``MigrationError/noRoomForUpload(limit:)``, ``MigrationError/uploadOffsetMismatch(size:)``,
  ///   ``MigrationError/invalidUploadID`` and the errors of writing.
  package nonisolated func append(
    _ data: [UInt8], to id: String, of appID: String, at offset: Int64
  ) async throws(MigrationError) -> Int64 {
    do throws(MigrationError) {
      return try folder.append(data, to: id, of: appID, at: offset)
    } catch {
      guard case .noRoomForUpload = error else { throw error }
    }
    let running: [MigrationJob]
    do throws(StoreError) {
      running = try await store.read(.interactive) { store throws(StoreError) in try store.runningMigrations()
      }
    } catch {
      throw .ledger(.store(error))
    }
    try folder.makeRoom(for: data.count, in: id, of: appID, keeping: running.map(\.order.inputPath))
    return try folder.append(data, to: id, of: appID, at: offset)
  }
}
