internal import Foundation
internal import Logging
internal import Store

// Uploaded inputs contain the ids of customers and their receipts until a job is cancelled.
extension ImportFolder {
  /// Overwrites the lines of all uploads that name one of the customers with spaces, so that the offsets of running jobs
  /// and of reports stay valid. Inputs that the operator put into the folder are the operator's to change.
  func eraseUploads(naming customers: [String]) throws {
    let ids = customers.map { Array($0.utf8) }
    if let uploads {
      for name in try uploads.all().map(\.name) {
        try erase(ids, in: UploadSource(path: name, uploads: uploads)) { position, count in
          try uploads.blank(name, at: position, count: count)
        }
      }
    }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return }
    for name in names where name.hasPrefix(Self.uploadPrefix) {
      let file = "\(path)/\(name)"
      let output = try FileHandle(forUpdating: URL(fileURLWithPath: file))
      defer { try? output.close() }
      try erase(ids, in: InputFileSource(path: file)) { position, count in
        try output.seek(toOffset: UInt64(position))
        try output.write(contentsOf: Data(repeating: UInt8(ascii: " "), count: count))
      }
      try output.synchronize()
    }
  }

  private func erase(
    _ customers: [[UInt8]], in source: any InputSource,
    blank: (_ position: Int64, _ count: Int) throws -> Void
  ) throws {
    let input = try InputFile(source, from: 0)
    while true {
      let start = input.position
      do {
        guard let line = try input.line() else { break }
        if customers.contains(where: { line.names($0) }) { try blank(start, line.count) }
      } catch InputError.lineTooLong {
        try input.skipLine()
      }
    }
  }
}

extension MigrationJobManager {
  /// Erases customers from the uploads; see ``ImportFolder``.
  package func eraseUploads(naming customers: [String]) {
    do { try folder.eraseUploads(naming: customers) } catch {
      logger.error("erasure of uploaded inputs failed", metadata: ["error": "\(error)"])
    }
  }
}

extension ArraySlice<UInt8> {
  /// Whether it contains `id` as a whole: no letter or digit before or after it.
  fileprivate func names(_ id: [UInt8]) -> Bool {
    var rest = self
    while let found = rest.firstRange(of: id) {
      let isWhole = [
        found.lowerBound > startIndex ? self[found.lowerBound - 1] : nil,
        found.upperBound < endIndex ? self[found.upperBound] : nil,
      ].allSatisfy { $0.map { !$0.isAlphanumeric } ?? true }
      if isWhole { return true }
      rest = self[(found.lowerBound + 1)...]
    }
    return false
  }
}

extension UInt8 {
  fileprivate var isAlphanumeric: Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }
}
