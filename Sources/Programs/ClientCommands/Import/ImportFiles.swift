internal import AppStore
internal import CommandSupport
internal import CustomerImport
internal import Foundation
internal import JSON

/// The rows of the files of an import.
struct ImportFiles {
  private let mapping: ColumnMapping
  private let identity: ImportPlanner.Identity
  private var rows: [(row: ImportRow, knownAt: Instant)] = []
  private var omissions: [ImportOmission] = []
  private var lists: [RevenueCatLists] = []
  /// The paths of the files that were read.
  private(set) var paths: [String] = []
  /// Whether customers get one of several ids of the export; otherwise a column has it.
  var choosesCustomerIDs: Bool { identity != .column }

  init(identity: ImportPlanner.Identity, mapping: ColumnMapping) {
    self.identity = identity
    self.mapping = mapping
  }

  /// Reads a table, or RevenueCat's lists if `allowsJSON`. States without a number count from the time of the file.
  mutating func read(_ path: String, allowsJSON: Bool) throws {
    let data = try InputFile.contents(path)
    let text = Array(try ReportFile.text(of: Array(data), named: path).utf8)
    let url = URL(fileURLWithPath: path)
    let modified = try? url.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
    let knownAt =
      modified.map { Instant(millisecondsSince1970: Int64($0.timeIntervalSince1970 * 1000)) }
      ?? SystemClock.now()
    paths.append(path)
    let first = text.first { $0 > 0x20 }
    do throws(ImportError) {
      if allowsJSON, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
        let lists = try RevenueCatLists(text, now: knownAt)
        self.lists.append(lists)
        add(lists.rows, lists.omissions, of: path, knownAt: knownAt)
      } else {
        let table = try mapping.rows(of: SeparatedValues(text, separator: mapping.separator))
        add(table.rows, table.unreadable, of: path, knownAt: knownAt)
      }
    } catch {
      throw Failure("\(path): \(error.description)")
    }
  }

  private mutating func add(
    _ rows: [ImportRow], _ omissions: [ImportOmission], of path: String, knownAt: Instant
  ) {
    for var row in rows {
      row.file = path
      self.rows.append((row, knownAt))
    }
    add(omissions, of: path)
  }

  /// Adds what was not read of the file at `path`.
  mutating func add(_ omissions: [ImportOmission], of path: String) {
    for var omission in omissions {
      omission.file = path
      self.omissions.append(omission)
    }
  }

  /// What was not read of the files: lines and items that cannot be read, and pages of lists that are missing.
  var unread: [ImportOmission] { omissions + RevenueCatLists.unfinished(lists) }

  /// Returns the statements of the files and of `events` about access in the environment of `target`.
  func statements(
    events: [(event: RevenueCatEvent, document: JSONValue)], for target: ImportTarget
  ) -> AccessStatements {
    var statements = AccessStatements(entitlementNames: mapping.entitlements)
    func isOfTarget(_ isSandbox: Bool) -> Bool { target.takesSandbox.map { $0 == isSandbox } ?? true }
    for (row, knownAt) in rows where row.isSandbox.map(isOfTarget) ?? true {
      statements.add(row, knownAt: knownAt)
    }
    for (event, document) in events where isOfTarget(event.isSandbox) { statements.add(event, document) }
    return statements
  }

  /// The plan of all files.
  func plan(for target: ImportTarget, includesAttributes: Bool) -> ImportPlan {
    var options = ImportPlanner.Options()
    options.identity = identity
    options.takesSandbox = target.takesSandbox
    options.knownEntitlements = target.entitlements
    options.includesAttributes = includesAttributes
    var planner = ImportPlanner(options, mapping: mapping)
    for omission in unread { planner.add(omission) }
    for (row, knownAt) in rows {
      var row = row
      row.revision = row.revision ?? max(1, knownAt.millisecondsSince1970)
      planner.add(row)
    }
    return planner.plan()
  }
}
