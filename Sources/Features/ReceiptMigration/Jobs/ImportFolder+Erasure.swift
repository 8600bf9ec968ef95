internal import AppStore
internal import Bytes
internal import Entitlements
internal import Foundation
package import Ledger
internal import Logging
package import Store

// Uploaded inputs contain the ids of customers and their receipts until a job is cancelled.
extension ImportFolder {
  /// The bytes after which an erasure lets other work run.
  private static let stepLength: Int64 = 1 << 20

  /// Overwrites the lines of the uploads of an app that name a person with spaces, but for line ends in quotes, so that
  /// the offsets and the line numbers of running jobs and of reports stay valid. Inputs that the operator put into the
  /// folder are the operator's to change.
  ///
  /// `beforeFirst` is called if any line does, before the first one is overwritten.
  ///
  /// - Throws: the error of a file, of the store or of `beforeFirst`. Lines before it are overwritten; a repetition
  ///   continues.
  func eraseUploads(
    of appID: String, naming person: PersonSearch, beforeFirst: () async throws -> Void = {}
  ) async throws {
    let suffix = Self.suffix(ofUploadsOf: appID)
    var isFound = false
    func willBlank() async throws {
      if !isFound { try await beforeFirst() }
      isFound = true
    }
    if let uploads {
      for name in try uploads.all().map(\.name) where name.hasSuffix(suffix) {
        try await erase(person, in: UploadSource(path: name, uploads: uploads)) { position, blank in
          try await willBlank()
          try uploads.overwrite(name, at: position, with: blank)
        }
      }
    }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
    for name in names where name.hasPrefix(Self.uploadPrefix) && name.hasSuffix(suffix) {
      let file = "\(path)/\(name)"
      let output = try FileHandle(forUpdating: URL(fileURLWithPath: file))
      defer { try? output.close() }
      try await erase(person, in: InputFileSource(path: file)) { position, blank in
        try await willBlank()
        try output.seek(toOffset: UInt64(position))
        try output.write(contentsOf: blank)
      }
      try output.synchronize()
    }
  }

  /// Reads lines as a job does, and calls `overwrite` with the blank text for those that name the person. It yields after
  /// each mebibyte, because an upload may have gigabytes.
  private func erase(
    _ person: PersonSearch, in source: any InputSource,
    overwrite: (_ position: Int64, _ blank: [UInt8]) async throws -> Void
  ) async throws {
    let input = try InputFile(source, from: 0)
    try input.skipByteOrderMark()
    let syntax = InputFormat.Syntax(beginningWith: try input.peek())
    let separator = syntax == .csv ? try Self.separator(of: source) : UInt8(ascii: ",")
    let scanner = syntax == .csv ? CSVScanner(separator: separator) : nil
    let lineEnd = UInt8(ascii: "\n")
    // The names of the columns are not about a person.
    var mayName = syntax != .csv
    var yieldedAt: Int64 = 0
    while true {
      let start = input.position
      do {
        guard let line = try input.line(scanner) else { break }
        if mayName, person.finds(in: line, syntax, separator: separator) {
          try await overwrite(start, line.map { $0 == lineEnd ? lineEnd : UInt8(ascii: " ") })
        }
        mayName = true
      } catch InputError.lineTooLong {
        // No job can use it, so it is not searched.
        try input.skipLine()
        try await blankTooLong(from: start, to: input.position, overwrite)
      }
      guard input.position - yieldedAt > Self.stepLength else { continue }
      yieldedAt = input.position
      await Task.yield()
    }
  }

  /// The delimiter of a CSV input, which only its jobs know: the first character between the names of the columns.
  private static func separator(of source: any InputSource) throws -> UInt8 {
    let header: ArraySlice<UInt8>
    do throws(InputError) { header = try InputFile(source, from: 0).line() ?? [] } catch {
      guard case .lineTooLong = error else { throw error }
      header = []
    }
    let ofNames = { (byte: UInt8) in byte.isPartOfWord || "_-. \"".utf8.contains(byte) }
    return header.first { !ofNames($0) } ?? UInt8(ascii: ",")
  }

  /// Overwrites a line in pieces, but for its last byte, which is the line end unless the input ends without one.
  private func blankTooLong(
    from start: Int64, to end: Int64, _ overwrite: (_ position: Int64, _ blank: [UInt8]) async throws -> Void
  ) async throws {
    var position = start
    while position < end - 1 {
      let count = min(Self.stepLength, end - 1 - position)
      try await overwrite(position, [UInt8](repeating: UInt8(ascii: " "), count: Int(count)))
      position += count
    }
  }
}

extension MigrationJobManager {
  /// Overwrites the lines of the uploads of an app that name one of the customers or tokens; see ``ImportFolder``. Tokens
  /// are in lower case. It can be repeated after an error. `beforeFirst` is called if any line does, before the first one
  /// is overwritten.
  ///
  /// - Throws: ``LedgerError/store(_:)``; the error of `beforeFirst`.
  package nonisolated func eraseUploads(
    of appID: String, naming customers: some Sequence<String>, tokens: some Sequence<String>,
    beforeFirst: () async throws(LedgerError) -> Void = { () async throws(LedgerError) in }
  ) async throws(LedgerError) {
    try await eraseUploads(
      of: appID, naming: PersonSearch(ids: customers, tokens: tokens), beforeFirst: beforeFirst)
  }

  /// Overwrites the lines of restored uploads that name a customer who was erased since: one of `customers`, whose id the
  /// restored store has again, by the id or by one of `tokens`, or one that only the list of erasures knows, by a hash.
  package nonisolated func eraseRestoredUploads(
    naming customers: [CustomerKey], tokens: Set<String>,
    where isErased: @escaping @Sendable (CustomerKey) -> Bool
  ) async throws(LedgerError) {
    for appID in Set(intake.catalog.value.appIDs).union(customers.map(\.appID)) {
      let ids = customers.filter { $0.appID == appID }.map(\.customerID)
      let search = PersonSearch(ids: ids, tokens: tokens) { id in
        Environment.allCases.contains {
          isErased(CustomerKey(appID: appID, environment: $0, customerID: id))
        }
      }
      try await eraseUploads(of: appID, naming: search)
    }
  }

  private nonisolated func eraseUploads(
    of appID: String, naming person: PersonSearch,
    beforeFirst: () async throws(LedgerError) -> Void = { () async throws(LedgerError) in }
  ) async throws(LedgerError) {
    do {
      try await folder.eraseUploads(of: appID, naming: person, beforeFirst: beforeFirst)
    } catch let error as LedgerError {
      throw error
    } catch {
      logger.error("erasure of uploaded inputs failed", metadata: ["error": "\(error)"])
      throw .store(.failed("the uploads could not be searched for the customer"))
    }
  }
}
