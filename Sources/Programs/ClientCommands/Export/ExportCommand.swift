internal import AppStore
internal import ArgumentParser
internal import CommandSupport
internal import EntitledClient
internal import Foundation
internal import JSON
internal import Wire

/// `entitled export`.
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Export events and postings for a data warehouse.",
    discussion: """
      Writes compressed JSON lines, in directories for the days on which they became known, and continues after \
      the last row in the directory. docs/warehouse.md describes the files.
      Example: entitled export --follow /srv/warehouse/entitled
      """)

  @OptionGroup var options: ScopedOptions

  @Flag(help: "Go on with new rows until the command is interrupted.") var follow = false
  @Option(help: "Seconds between two looks for new rows.") var interval: Double = 60
  @Argument(help: "Directory.") var directory: String

  func run() async throws {
    guard interval >= 0.1, interval <= 86_400 else {
      throw Failure("--interval takes 0.1 to 86400 seconds", status: 64)
    }
    let (app, environment) = try await options.appAndEnvironment()
    let target = try WarehouseDirectory(directory, app: app, environment: options.scope.environment ?? "")
    for kind in ExportKind.allCases { try target.write(schema: kind.schema, of: kind) }
    var hasSucceeded = false
    repeat {
      do {
        let rows = try await exportOnce(app, environment, to: target)
        if !hasSucceeded, rows == 0, !follow, !options.client.json { print("nothing new") }
        hasSucceeded = true
      } catch let error as ClientError {
        // While it follows, the server may restart.
        guard follow, hasSucceeded, error.isTransient else { throw Failure(error.description) }
        FileHandle.standardError.write(Data("entitled: \(error), will retry\n".utf8))
      }
      if follow { try await Task.sleep(for: .seconds(interval)) }
    } while follow
  }

  /// Exports what is new, and returns the number of rows.
  private func exportOnce(
    _ app: String, _ environment: Wire.Environment, to target: WarehouseDirectory
  ) async throws -> Int {
    let counter = RowCounter(isJSON: options.client.json)
    try await exportEvents(app, environment, to: target, counter)
    try await exportPostings(app, environment, to: target, counter)
    return counter.rows
  }

  /// Exports the events up to the first pause: `Watch` sends a heartbeat when there is none.
  private func exportEvents(
    _ app: String, _ environment: Wire.Environment, to target: WarehouseDirectory, _ counter: RowCounter
  ) async throws {
    // The last exported event is sent again, to compare the history of the service with that of the directory.
    var last = try target.lastEvent()
    let request = WatchRequest.with {
      ($0.app, $0.environment) = (app, environment)
      $0.start = .afterSequence(last.map { $0.sequence - 1 } ?? 0)
      $0.heartbeatInterval = .with { $0.nanos = 200_000_000 }
    }
    var writer = PartitionWriter(target, .events, onFile: counter.count)
    let end = ContinuousClock.now + .seconds(max(10, interval))
    try await options.client.withUnmappedErrors { connection in
      try await connection.watch(request) { response in
        var event: EntitlementEvent?
        if case .event(let content) = response.content { event = content }
        if let known = last {
          try known.require(event)
          last = nil
          return true
        }
        guard let event else { return false }
        try writer.append(event.exportRow, number: event.sequence, knownAt: event.recordedAt.instant)
        return ContinuousClock.now < end
      }
    }
    try writer.flush()
  }

  /// Exports the postings after the last one in the directory, to the last one of the service.
  private func exportPostings(
    _ app: String, _ environment: Wire.Environment, to target: WarehouseDirectory, _ counter: RowCounter
  ) async throws {
    let last = try target.lastNumber(of: .postings)
    let request = ListPostingsRequest.with {
      ($0.app, $0.environment, $0.afterNumber) = (app, environment, last)
    }
    var writer = PartitionWriter(target, .postings, onFile: counter.count)
    try await options.client.withUnmappedErrors { connection in
      try await connection.listPostings(request) { postings in
        for posting in postings {
          try writer.append(posting.exportRow, number: posting.number, knownAt: posting.knownAt.instant)
        }
      }
    }
    try writer.flush()
  }
}

/// Prints each written file, and counts its rows.
private final class RowCounter {
  private(set) var rows = 0
  private let isJSON: Bool

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// Prints a line for a file at once, because a program may wait for it.
  func count(_ path: String, _ rows: Int) {
    self.rows += rows
    if isJSON {
      let line: JSONObject = ["file": .string(path), "rows": JSONValue(Int64(rows))]
      print(String(decoding: line.serialized(), as: UTF8.self))
    } else {
      print("\(path)  \(rows) rows")
    }
    fflush(nil)
  }
}

extension GoogleProtobuf.Timestamp? {
  /// The instant; the start of 1970 for `nil`, which no stored row has.
  var instant: Instant { Instant(millisecondsSince1970: self?.millisecondsSince1970 ?? 0) }
}
