internal import Bytes
internal import Foundation
internal import Store

/// The bytes of an input.
protocol InputSource: Sendable {
  /// Names it in errors.
  var path: String { get }

  /// Returns a function that reads at most a number of bytes from an offset, none at the end. It belongs to one thread at
  /// a time.
  func opened() throws -> (_ offset: Int64, _ count: Int) throws -> [UInt8]
}

/// A file of the import folder.
struct InputFileSource: InputSource {
  /// Absolute.
  let path: String

  func opened() throws -> (Int64, Int) throws -> [UInt8] {
    let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    return { offset, count in
      try handle.seek(toOffset: UInt64(offset))
      return try handle.read(upToCount: count).map { Array($0) } ?? []
    }
  }
}

/// An input that cannot be read once its job stops. A file without a complete line is read in one step, which may take
/// minutes.
struct StoppableSource: InputSource {
  /// The input that is read while the job runs.
  let base: any InputSource
  /// Checked before each read.
  let isStopped: @Sendable () -> Bool

  var path: String { base.path }

  func opened() throws -> (Int64, Int) throws -> [UInt8] {
    let read = try base.opened()
    return { [isStopped] offset, count in
      guard !isStopped() else { throw CancellationError() }
      return try read(offset, count)
    }
  }
}

/// An upload in the store.
struct UploadSource: InputSource {
  /// The name of the upload.
  let path: String
  let uploads: any UploadStore

  func opened() -> (Int64, Int) throws -> [UInt8] {
    { [path, uploads] offset, count in try uploads.read(path, at: offset, upTo: count) }
  }
}

/// Reads an input line by line from an offset, with memory for its longest line and one chunk more. It has no lock: one
/// task reads at a time.
final class InputFile {
  /// In bytes: enough for a receipt of some ten thousand purchases in base64.
  static let maxLineLength = 24 << 20
  /// The bytes of one read.
  private static let chunkSize = 256 << 10

  private let path: String
  private let read: (Int64, Int) throws -> [UInt8]
  private var buffer: [UInt8] = []
  /// The offset of `buffer` in the file; `next` is the read position in it.
  private var base: Int64
  private var next = 0
  private var isAtEnd = false
  /// The number of lines of the input before ``position``.
  private(set) var lineCount: Int64

  /// Opens the input at the byte offset `position` after `lineCount` lines.
  init(
    _ source: any InputSource, from position: Int64 = 0, after lineCount: Int64 = 0
  ) throws(InputError) {
    path = source.path
    base = position
    self.lineCount = lineCount
    do {
      read = try source.opened()
    } catch {
      throw .unreadable(path: path, problem: error.localizedDescription)
    }
  }

  /// The byte offset of the next line.
  var position: Int64 { base + Int64(next) }

  /// Skips a byte order mark at the beginning of the input. Must be called before anything is read.
  func skipByteOrderMark() throws(InputError) {
    let mark = CSVReader.byteOrderMark
    while buffer.count < mark.count, try fill() {}
    if buffer.starts(with: mark) { next = mark.count }
  }

  /// Returns the next byte that is no white space, without reading it; `nil` if there is none within a line's length.
  func peek() throws(InputError) -> UInt8? {
    var scanned = 0
    while true {
      if let byte = buffer[(next + scanned)...].first(where: { $0 > 0x20 }) { return byte }
      scanned = buffer.count - next
      guard scanned <= Self.maxLineLength, try fill() else { return nil }
    }
  }

  /// Whether the input has nothing but line ends. The spaces of lines whose customers were erased count as content. Must be
  /// called before a line is read.
  func isEmpty() throws(InputError) -> Bool {
    var scanned = next
    while true {
      if buffer[scanned...].contains(where: { $0 != 0x0A && $0 != 0x0D }) { return false }
      scanned = buffer.count
      guard scanned <= Self.maxLineLength else { return false }
      // Filling discards the bytes before the read position.
      let consumed = next
      guard try fill() else { return true }
      scanned -= consumed
    }
  }

  /// Returns the form of the input if it has no lines that can be read. Must be called before anything is read.
  func unsupportedForm() throws(InputError) -> InputError.Form? {
    while buffer.count < 2, try fill() {}
    if let form = InputError.Form(beginningWith: buffer[...]) { return form }
    var scanned = 0
    while true {
      let end = buffer[scanned...].firstIndex { $0 == 0x0A || $0 == 0x0D }
      // A CR at the end of the buffer may be the first half of CR LF.
      if let end, buffer[end] == 0x0A || end + 1 < buffer.count {
        return buffer[end] == 0x0D && buffer[end + 1] != 0x0A ? .carriageReturns : nil
      }
      scanned = end ?? buffer.count
      guard scanned <= Self.maxLineLength, try fill() else { return nil }
    }
  }

  /// Reads the next line, without its end; `nil` at the end of the file. With a scanner of CSV, the line is a record,
  /// which may have line ends in quotes.
  ///
  /// - Throws: ``InputError/lineTooLong(limit:)``; ``skipLine(upTo:)`` skips the rest of that line.
  func line(_ scanner: CSVScanner? = nil) throws(InputError) -> ArraySlice<UInt8>? {
    var scanner = scanner
    var scanned = next
    var lines: Int64 = 1
    while true {
      while scanned < buffer.count {
        let byte = buffer[scanned]
        let role = scanner?.role(of: byte) ?? (byte == 0x0A ? .recordEnd : .content)
        if role == .recordEnd {
          lineCount += lines
          defer { next = scanned + 1 }
          let end = scanned > next && buffer[scanned - 1] == 0x0D ? scanned - 1 : scanned
          return buffer[next..<end]
        }
        // A line end in quotes.
        if byte == 0x0A { lines += 1 }
        scanned += 1
      }
      guard scanned - next <= Self.maxLineLength else { throw .lineTooLong(limit: Self.maxLineLength) }
      let consumed = next
      let wasFilled = try fill()
      scanned -= consumed - next
      guard wasFilled else { break }
    }
    guard next < buffer.count else { return nil }
    lineCount += lines
    defer { next = buffer.count }
    return buffer[next...]
  }

  /// Skips the rest of the line, or of the input, as far as the byte offset `limit`, so that a very long line does not
  /// block a thread. A quote of CSV has no effect here.
  ///
  /// - Returns: whether the line is skipped; otherwise a further call continues.
  @discardableResult
  func skipLine(upTo limit: Int64 = .max) throws(InputError) -> Bool {
    while true {
      if let end = buffer[next...].firstIndex(of: 0x0A) {
        lineCount += 1
        next = end + 1
        return true
      }
      next = buffer.count
      guard position < limit else { return false }
      guard try fill() else { return true }
    }
  }

  /// Discards the read part of the buffer and reads on; false at the end of the file.
  private func fill() throws(InputError) -> Bool {
    guard !isAtEnd else { return false }
    let chunk: [UInt8]
    do { chunk = try read(base + Int64(buffer.count), Self.chunkSize) } catch let error as StoreError {
      throw .store(error)
    } catch {
      throw .unreadable(path: path, problem: error.localizedDescription)
    }
    guard !chunk.isEmpty else {
      isAtEnd = true
      return false
    }
    buffer.removeSubrange(..<next)
    base += Int64(next)
    next = 0
    buffer.append(contentsOf: chunk)
    return true
  }
}
