internal import AppStore
internal import CommandSupport
internal import Foundation
internal import JSON
internal import Platform

/// The directory of an export: for each kind of rows a schema, and for each day on which rows became known the files with
/// them.
///
///     DIR/export.json
///     DIR/postings/schema.json
///     DIR/postings/known_day=2026-10-24/00000000000000000001-00000000000000000420.ndjson.gz
///
/// The name of a file has the numbers of its first and last row, and each file begins after the one before it. So the
/// names alone say how far the export is, and whatever ends the program, the next run continues after the last file.
struct WarehouseDirectory {
  private let directory: PrivateDirectory
  private let path: String
  private let known = LastNumbers()

  /// The number of the last row of each kind, and its file, once they were looked for: after a year there are some hundred
  /// thousand names.
  private final class LastNumbers {
    var last: [ExportKind: Int64] = [:]
    var files: [ExportKind: String] = [:]
    var event: LastExportedEvent?
  }

  /// Opens or creates the directory of one app and environment.
  ///
  /// - Throws: ``Failure`` if another process uses it, or it is of another app or environment.
  init(_ path: String, app: String, environment: String) throws(Failure) {
    self.path = path
    directory = try Self.mapErrors { () throws(PrivateDirectoryError) in
      try PrivateDirectory(path, createsParents: true)
    }
    let scope: JSONObject = ["app": .string(app), "environment": .string(environment)]
    let known = try Self.mapErrors { () throws(PrivateDirectoryError) in try directory.read("export.json") }
    if let known {
      guard (try? JSONValue(parsing: known).objectValue) == scope else {
        throw Failure("'\(path)' has the export of another app or environment", status: 64)
      }
    } else {
      try replace("export.json", in: directory, with: scope.serialized(pretty: true))
    }
  }

  /// The number of the last exported row of this kind; 0 without one. Removes what an interrupted write left.
  ///
  /// - Throws: ``Failure`` if the files overlap.
  func lastNumber(of kind: ExportKind) throws(Failure) -> Int64 {
    if let last = known.last[kind] { return last }
    var spans: [(numbers: ClosedRange<Int64>, path: String)] = []
    let folder = "\(path)/\(kind.rawValue)"
    for day in try Self.names(in: folder) where day.hasPrefix(Self.dayPrefix) {
      for name in try Self.names(in: "\(folder)/\(day)") {
        if name.hasSuffix(".new") { unlink("\(folder)/\(day)/\(name)") }
        if let span = Self.numbers(in: name) { spans.append((span, "\(folder)/\(day)/\(name)")) }
      }
    }
    spans.sort { $0.numbers.lowerBound < $1.numbers.lowerBound }
    for (one, next) in zip(spans, spans.dropFirst())
    where next.numbers.lowerBound <= one.numbers.upperBound {
      throw Failure(
        "'\(folder)' has number \(next.numbers.lowerBound) in two files")
    }
    let last = spans.last?.numbers.upperBound ?? 0
    known.last[kind] = last
    known.files[kind] = spans.last?.path
    return last
  }

  /// The last exported event; `nil` without one.
  ///
  /// - Throws: ``Failure`` if its file cannot be read.
  func lastEvent() throws(Failure) -> LastExportedEvent? {
    guard try lastNumber(of: .events) > 0 else { return nil }
    if known.event == nil, let path = known.files[.events] {
      known.event = try LastExportedEvent(path: path)
    }
    return known.event
  }

  /// Writes the schema of this kind beside its files, if it differs from the one there.
  func write(schema: JSONObject, of kind: ExportKind) throws(Failure) {
    let folder = try open("\(path)/\(kind.rawValue)")
    let text = schema.serialized(pretty: true)
    let known = try Self.mapErrors { () throws(PrivateDirectoryError) in try folder.read("schema.json") }
    if known != text { try replace("schema.json", in: folder, with: text) }
  }

  /// Writes one file of rows, so that it exists as a whole or not at all. `numbers` are those of its first and last row,
  /// after ``lastNumber(of:)``.
  ///
  /// - Returns: the path of the file.
  func write(
    _ rows: [UInt8], of kind: ExportKind, day: String, numbers: ClosedRange<Int64>
  ) throws(Failure) -> String {
    guard let compressed = gzip(rows) else {
      throw Failure("cannot compress rows: out of memory")
    }
    let folder = "\(path)/\(kind.rawValue)"
    let partition = try open("\(folder)/\(Self.dayPrefix)\(day)")
    let name = "\(Self.padded(numbers.lowerBound))-\(Self.padded(numbers.upperBound))\(Self.suffix)"
    try replace(name, in: partition, with: compressed)
    let path = "\(partition.path)/\(name)"
    known.last[kind] = numbers.upperBound
    if kind == .events { known.event = try LastExportedEvent(rows: rows, path: path) }
    return path
  }

  private static let dayPrefix = "known_day="
  private static let suffix = ".ndjson.gz"

  /// A number with 20 digits, so that the order of the names is that of the numbers.
  private static func padded(_ number: Int64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 20 - digits.count)) + digits
  }

  /// The numbers of the first and last row in a file's name; `nil` for files that are none of an export.
  private static func numbers(in name: String) -> ClosedRange<Int64>? {
    guard name.hasSuffix(suffix) else { return nil }
    let parts = name.dropLast(suffix.count).split(separator: "-").map { Int64($0) }
    guard parts.count == 2, let first = parts[0], let last = parts[1], first <= last else { return nil }
    return first...last
  }

  /// The sorted names in a directory; none if it does not exist.
  private static func names(in folder: String) throws(Failure) -> [String] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    } catch {
      throw Failure("cannot read '\(folder)': \(error.localizedDescription)")
    }
  }

  /// Opens or creates a directory, and makes it durable in the one above it: without its entry, files would be missing before
  /// later ones. An existing one may be new, too, if the program was killed after it had created it.
  private func open(_ path: String) throws(Failure) -> PrivateDirectory {
    let directory = try Self.mapErrors { () throws(PrivateDirectoryError) in try PrivateDirectory(path) }
    guard DirectoryEntries.sync(around: path) else {
      throw Failure("cannot write the folder of '\(path)': \(SystemError.last)")
    }
    return directory
  }

  /// Replaces a file, so that a reader sees the earlier content or the whole new one.
  private func replace(
    _ name: String, in directory: PrivateDirectory, with content: [UInt8]
  ) throws(Failure) {
    try Self.mapErrors { () throws(PrivateDirectoryError) in try directory.replace(name, with: content) }
  }

  private static func mapErrors<Value>(
    _ body: () throws(PrivateDirectoryError) -> Value
  ) throws(Failure) -> Value {
    do {
      return try body()
    } catch {
      switch error {
      case .inUse(let path): throw Failure("another process uses '\(path)'")
      case .failed(let path, let reason):
        throw Failure("cannot use '\(path)': \(reason)")
      }
    }
  }
}

/// Collects rows, and writes a file when the day changes or enough rows are collected.
struct PartitionWriter {
  /// A file has some megabytes.
  private static let maxRows = 100_000

  let directory: WarehouseDirectory
  let kind: ExportKind
  /// Called with the path and the number of rows of each file.
  let onFile: (_ path: String, _ rows: Int) -> Void

  private var day = ""
  private var numbers: ClosedRange<Int64>?
  private var rows: [UInt8] = []
  private var count = 0

  init(
    _ directory: WarehouseDirectory, _ kind: ExportKind,
    onFile: @escaping (_ path: String, _ rows: Int) -> Void
  ) {
    (self.directory, self.kind, self.onFile) = (directory, kind, onFile)
  }

  /// Adds a row that became known at `knownAt`, whose day is that of UTC. Numbers must grow.
  mutating func append(_ row: JSONObject, number: Int64, knownAt: Instant) throws(Failure) {
    let day = String(knownAt.description.prefix(10))
    if day != self.day || count >= Self.maxRows { try flush() }
    self.day = day
    numbers = (numbers?.lowerBound ?? number)...number
    rows += row.serialized()
    rows.append(UInt8(ascii: "\n"))
    count += 1
  }

  /// Writes what is collected; without a row, no file. Call it after the last row: nothing else does.
  mutating func flush() throws(Failure) {
    guard let numbers else { return }
    onFile(try directory.write(rows, of: kind, day: day, numbers: numbers), count)
    (self.numbers, rows, count) = (nil, [], 0)
  }
}
