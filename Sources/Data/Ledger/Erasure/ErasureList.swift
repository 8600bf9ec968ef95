internal import AppStore
internal import Bytes
internal import Glibc
internal import Platform
package import SignedData
internal import Store
internal import Synchronization

/// The list of erasures, outside the store and its backups, as keyed hashes.
///
/// A store that was restored from an older backup contains customers that were erased since. The service compares it
/// with this list before its first answer, and erases them again. The list names no customer: without the key, a hash says
/// nothing about an id that can be guessed.
package final class ErasureList: Sendable {
  /// The path of the file; `nil` keeps the list in memory.
  private let path: String?
  private let key: [UInt8]
  /// Seals the ids that the store keeps for a day.
  let names: ErasedNames
  private let records: Mutex<[ErasureRecord]>

  private static let format = "entitled-erasures-1"

  /// A list in memory, for tests.
  package init(key: InstallationKey) {
    path = nil
    self.key = key.derived(for: "erasures")
    names = ErasedNames(key)
    records = Mutex([])
  }

  /// Opens the list at `path`, and creates it if it is missing.
  ///
  /// - Throws: ``ErasureListError``, also if the list was written with another key.
  package init(path: String, key: InstallationKey) throws(ErasureListError) {
    self.path = path
    self.key = key.derived(for: "erasures")
    names = ErasedNames(key)
    records = Mutex([])
    if let found = try stored(at: path) {
      records.withLock { $0 = found }
    } else {
      try Self.append([], orAll: [head], to: path)
    }
  }

  /// Reads the file again, to which another replica may have appended. If it is missing, the list stays as it is.
  func reload() throws(ErasureListError) {
    guard let path else { return }
    // Held during the read, so that what is appended meanwhile stays in the list.
    let result: Result<Void, ErasureListError> = records.withLock { records in
      do throws(ErasureListError) {
        if let found = try stored(at: path) { records = found }
      } catch {
        return .failure(error)
      }
      return .success(())
    }
    try result.get()
  }

  /// The erasures of the file; `nil` if it is missing or empty.
  private func stored(at path: String) throws(ErasureListError) -> [ErasureRecord]? {
    var lines = try Self.lines(of: path)
    guard !lines.isEmpty else { return nil }
    guard lines.removeFirst() == head else { throw .otherKey(path: path) }
    var read: [ErasureRecord] = []
    for line in lines {
      let fields = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 2 else { throw .malformed(path: path) }
      read.append(ErasureRecord(id: fields[0], customerHash: fields[1]))
    }
    return read
  }

  /// The first line of the file, which shows whether it was written with this key.
  private var head: String { "\(Self.format) \(hash(["key"]))" }

  /// All erasures, oldest first.
  var all: [ErasureRecord] { records.withLock { $0 } }

  /// Appends the erasures that the list does not have. They are durable on return.
  func append(_ erasures: [ErasureRecord]) throws(ErasureListError) {
    // Held during the write, so that no line is lost or written twice.
    let result: Result<Void, ErasureListError> = records.withLock { records in
      let known = Set(records.map(\.id))
      let new = erasures.filter { !known.contains($0.id) }
      guard !new.isEmpty else { return .success(()) }
      do throws(ErasureListError) {
        if let path {
          try Self.append(new.map(\.line), orAll: [head] + (records + new).map(\.line), to: path)
        }
      } catch {
        return .failure(error)
      }
      records += new
      return .success(())
    }
    try result.get()
  }

  /// A new erasure of the customer.
  func erasure(of customer: CustomerKey) -> ErasureRecord {
    let id = Hex.encode((0..<8).map { _ in UInt8.random(in: 0...255) })
    return ErasureRecord(id: id, customerHash: hash(of: customer))
  }

  /// The keyed hash of a customer.
  func hash(of customer: CustomerKey) -> String {
    hash(["customer", customer.appID, customer.environment.rawValue, customer.customerID])
  }

  /// The UUID that replaces an `appAccountToken`, the same for each document. It has version 8 (RFC 9562).
  func replacement(ofToken token: String) -> String {
    var digits = Array(hash(["token", token.lowercased()]).prefix(32))
    digits[12] = "8"
    digits[16] = "8"
    let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
    return groups.joined(separator: "-")
  }

  /// The name of a customer in logs, which without the key leads to no person.
  package func alias(of customerID: String, apps: [String]) -> String {
    "customer-\(hash(["log"] + apps + [customerID]).prefix(16))"
  }

  /// The hash under which the store has an idempotency key of a caller. Keys may contain the ids of customers.
  func hash(ofIdempotencyKey key: String, of caller: String) -> [UInt8] {
    HMACSHA256.code(of: Array("idempotency key\u{0}\(caller)\u{0}\(key)".utf8), key: self.key)
  }

  /// The hash of the content of a request with an idempotency key.
  func hash(ofIdempotentRequest request: [UInt8]) -> [UInt8] {
    HMACSHA256.code(of: Array("idempotent request\u{0}".utf8) + request, key: key)
  }

  /// The keyed hash by which a replica states to the others of the installation that the signatures of a notification and
  /// of the documents in it are valid.
  func seal(ofVerified signedPayload: String) -> [UInt8] {
    HMACSHA256.code(of: Array("verified notification\u{0}".utf8) + signedPayload.utf8, key: key)
  }

  /// A separator that no id contains keeps the fields apart.
  private func hash(_ fields: [String]) -> String {
    Hex.encode(HMACSHA256.code(of: Array(fields.joined(separator: "\u{0}").utf8), key: key))
  }
}

/// The reason the erasure list cannot be used.
package enum ErasureListError: Error, Hashable, Sendable, CustomStringConvertible {
  case unusable(path: String, reason: String)
  /// Its hashes belong to another key, so no customer would be found.
  case otherKey(path: String)
  case malformed(path: String)

  package var description: String {
    switch self {
    case .unusable(let path, let reason): "cannot use the erasure list \(path): \(reason)"
    case .otherKey(let path):
      "the erasure list \(path) was written with another key; restore the installation's key (entitled.key)"
    case .malformed(let path): "the erasure list \(path) is damaged"
    }
  }
}

// The file: the format with a check of the key, then one line for each erasure.
extension ErasureList {
  /// The complete lines of the file; none if it is missing. A kill may have left the beginning of another line.
  private static func lines(of path: String) throws(ErasureListError) -> [String] {
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return [] }
      throw .unusable(path: path, reason: SystemError.last)
    }
    defer { close(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(file, &chunk, chunk.count)
      guard count >= 0 else { throw .unusable(path: path, reason: SystemError.last) }
      if count == 0 { break }
      content += chunk[..<count]
    }
    let end = content.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    if end < content.count, ftruncate(file, off_t(end)) != 0 {
      throw .unusable(path: path, reason: SystemError.last)
    }
    return String(decoding: content[..<end], as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Appends lines durably, or none of them: a partial write is cut off again. A file that is new, or was removed while the
  /// process runs, gets `all` lines.
  private static func append(
    _ new: [String], orAll all: [String], to path: String
  ) throws(ErasureListError) {
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .unusable(path: path, reason: SystemError.last) }
    defer { close(file) }
    let size = lseek(file, 0, SEEK_END)
    let bytes = Array((size == 0 ? all : new).map { "\($0)\n" }.joined().utf8)
    guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0,
      size > 0 || DirectoryEntries.sync(around: path)
    else {
      let reason = SystemError.last
      ftruncate(file, size)
      throw .unusable(path: path, reason: reason)
    }
  }
}

extension ErasureRecord {
  /// The line of the file.
  fileprivate var line: String { "\(id) \(customerHash)" }
}
