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
/// The rows that are written at once are a part of the export: a file for each day, of which each has the numbers of the
/// first and last row of the part as its name. A part begins after the one before it. So the names alone say how far the
/// export is, and whatever ends the program, the next run continues after the last part.
///
/// The files of a part with several days are drafts until all of them are durable, and then renamed. A draft beside a
/// renamed file of its part is renamed by the next run; without one it is removed, and its part is written again.
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

  /// The number of the last exported row of this kind; 0 without one. Completes or removes what an interrupted write left.
  ///
  /// - Throws: ``Failure`` if the parts overlap.
  func lastNumber(of kind: ExportKind) throws(Failure) -> Int64 {
    if let last = known.last[kind] { return last }
    var spans: [(numbers: ClosedRange<Int64>, path: String)] = []
    var drafts: [(numbers: ClosedRange<Int64>, path: String)] = []
    let folder = "\(path)/\(kind.rawValue)"
    for day in try Self.names(in: folder) where day.hasPrefix(Self.dayPrefix) {
      for name in try Self.names(in: "\(folder)/\(day)") {
        let path = "\(folder)/\(day)/\(name)"
        if name.hasSuffix(".new") { unlink(path) }
        if let span = Self.numbers(in: name, Self.suffix) { spans.append((span, path)) }
        if let span = Self.numbers(in: name, Self.suffix + Self.draftSuffix) { drafts.append((span, path)) }
      }
    }
    let begun = Set(spans.map(\.numbers))
    for draft in drafts {
      if begun.contains(draft.numbers) { try publish(draft.path) } else { unlink(draft.path) }
    }
    spans.sort { $0.numbers.lowerBound < $1.numbers.lowerBound }
    for (one, next) in zip(spans, spans.dropFirst())
    where next.numbers.lowerBound <= one.numbers.upperBound && next.numbers != one.numbers {
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

  /// Writes a part of the export, the rows of each day into a file, so that each file exists as a whole or not at all.
  /// `numbers` are those of the first and last row of the part, after ``lastNumber(of:)``. A part of events has one day,
  /// so that the last file ends with the last event.
  ///
  /// - Returns: the paths of the files, in the order of `days`.
  func write(
    _ days: [(day: String, rows: [UInt8])], of kind: ExportKind, numbers: ClosedRange<Int64>
  ) throws(Failure) -> [String] {
    let name = "\(Self.padded(numbers.lowerBound))-\(Self.padded(numbers.upperBound))\(Self.suffix)"
    var paths: [String] = []
    for (day, rows) in days {
      guard let compressed = gzip(rows) else { throw Failure("cannot compress rows: out of memory") }
      let partition = try open("\(path)/\(kind.rawValue)/\(Self.dayPrefix)\(day)")
      try replace(days.count == 1 ? name : name + Self.draftSuffix, in: partition, with: compressed)
      paths.append("\(partition.path)/\(name)")
    }
    if days.count > 1 { for path in paths { try publish(path + Self.draftSuffix) } }
    known.last[kind] = numbers.upperBound
    if kind == .events, let rows = days.last?.rows, let path = paths.last {
      known.event = try LastExportedEvent(rows: rows, path: path)
    }
    return paths
  }

  /// Gives a durable draft the name of its file.
  private func publish(_ draft: String) throws(Failure) {
    guard rename(draft, String(draft.dropLast(Self.draftSuffix.count))) == 0,
      DirectoryEntries.sync(around: draft)
    else { throw Failure("cannot rename '\(draft)': \(SystemError.last)") }
  }

  private static let dayPrefix = "known_day="
  private static let suffix = ".ndjson.gz"
  private static let draftSuffix = ".draft"

  /// A number with 20 digits, so that the order of the names is that of the numbers.
  private static func padded(_ number: Int64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 20 - digits.count)) + digits
  }

  /// The numbers in a file's name with this suffix; `nil` for files that are none of an export.
  private static func numbers(in name: String, _ suffix: String) -> ClosedRange<Int64>? {
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

/// Collects rows, and writes a part of the export when enough are collected. Postings of many days alternate after
/// they were derived again, so a part has rows of several days.
struct PartitionWriter {
  /// A part has some megabytes.
  private static let maxRows = 100_000

  let directory: WarehouseDirectory
  let kind: ExportKind
  /// Called with the path and the number of rows of each file.
  let onFile: (_ path: String, _ rows: Int) -> Void

  private var days: [String: (rows: [UInt8], count: Int)] = [:]
  private var numbers: ClosedRange<Int64>?
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
    if count >= Self.maxRows || kind == .events && days[day] == nil { try flush() }
    numbers = (numbers?.lowerBound ?? number)...number
    days[day, default: ([], 0)].rows += row.serialized() + [UInt8(ascii: "\n")]
    days[day]?.count += 1
    count += 1
  }

  /// Writes what is collected; without a row, no file. Call it after the last row: nothing else does.
  mutating func flush() throws(Failure) {
    guard let numbers else { return }
    let days = days.sorted { $0.key < $1.key }
    let paths = try directory.write(
      days.map { (day: $0.key, rows: $0.value.rows) }, of: kind, numbers: numbers)
    for (path, day) in zip(paths, days) { onFile(path, day.value.count) }
    (self.numbers, self.days, count) = (nil, [:], 0)
  }
}
