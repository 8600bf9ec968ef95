internal import ArgumentParser
internal import Foundation
internal import Glibc
internal import JSON
internal import Ledger
internal import SQLiteStore
internal import Store

/// `entitled store export`: everything, for whoever wants to go elsewhere with it.
struct StoreExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write all that is remembered as lines of JSON.",
    discussion: """
      Reads the data directory of a running or stopped service, and changes nothing. All lines tell of one \
      moment: documents and commands byte for byte, notifications, customers with what they have, events. \
      docs/migration.md says what each kind of line has. Customers' names and purchases are in it: \
      keep it as you keep the data directory.
      """)

  @Option(help: "The data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @Option(help: "A file that must not exist yet, made for this user alone; - is the standard output.")
  var output = "-"

  func run() async throws {
    let out = try Self.open(output)
    var buffer: [UInt8] = []
    func flush() throws {
      do { try out.write(contentsOf: buffer) } catch {
        throw Failure("cannot write \(output): \(error.localizedDescription)")
      }
      buffer.removeAll(keepingCapacity: true)
    }
    do {
      let reader = try SQLiteEntitlementStore.reader(ofStoreIn: ServerOption.data.value(data))
      try StoreExport.run(reader, at: SystemClock.now()) { line in
        buffer += line.serialized()
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= Self.blockSize { try flush() }
      }
    } catch let error as StoreError {
      throw Failure(error.description)
    }
    try flush()
  }

  private static let blockSize = 1 << 20

  private static func open(_ path: String) throws -> FileHandle {
    guard path != "-" else { return .standardOutput }
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure("cannot make \(path): \(String(cString: strerror(errno)))") }
    return FileHandle(fileDescriptor: file, closeOnDealloc: true)
  }
}
