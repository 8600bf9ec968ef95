internal import Foundation

/// Reads a file line by line from an offset, with memory for its longest line.
final class InputFile {
  /// In bytes: enough for a receipt of some ten thousand purchases in base64.
  static let maxLineLength = 24 << 20
  private static let chunkSize = 256 << 10

  private let path: String
  private let handle: FileHandle
  private var buffer: [UInt8] = []
  /// The offset of `buffer` in the file; `next` is the read position in it.
  private var base: Int64
  private var next = 0
  private var isAtEnd = false

  /// Opens the file at the byte offset `position`.
  init(path: String, from position: Int64) throws(InputError) {
    self.path = path
    base = position
    do {
      handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      try handle.seek(toOffset: UInt64(position))
    } catch {
      throw .unreadable(path: path, problem: error.localizedDescription)
    }
  }

  deinit { try? handle.close() }

  /// The byte offset of the next line.
  var position: Int64 { base + Int64(next) }

  /// Returns the next byte that is no white space, without reading it.
  func peek() throws(InputError) -> UInt8? {
    while true {
      if let byte = buffer[next...].first(where: { $0 > 0x20 }) { return byte }
      guard try fill() else { return nil }
    }
  }

  /// Reads the next line, without its end; `nil` at the end of the file. A line end between two `quote`s does not count.
  ///
  /// - Throws: ``InputError/lineTooLong(limit:)``, after skipping the line.
  func line(quote: UInt8? = nil) throws(InputError) -> ArraySlice<UInt8>? {
    var scanned = next
    var isQuoted = false
    while true {
      while scanned < buffer.count {
        let byte = buffer[scanned]
        if byte == quote { isQuoted.toggle() }
        if byte == 0x0A, !isQuoted {
          defer { next = scanned + 1 }
          let end = scanned > next && buffer[scanned - 1] == 0x0D ? scanned - 1 : scanned
          return buffer[next..<end]
        }
        scanned += 1
      }
      if scanned - next > Self.maxLineLength {
        try skipLine()
        throw .lineTooLong(limit: Self.maxLineLength)
      }
      let consumed = next
      let wasFilled = try fill()
      scanned -= consumed - next
      guard wasFilled else { break }
    }
    guard next < buffer.count else { return nil }
    defer { next = buffer.count }
    return buffer[next...]
  }

  private func skipLine() throws(InputError) {
    while true {
      if let end = buffer[next...].firstIndex(of: 0x0A) {
        next = end + 1
        return
      }
      next = buffer.count
      guard try fill() else { return }
    }
  }

  /// Discards the read part of the buffer and reads on; false at the end of the file.
  private func fill() throws(InputError) -> Bool {
    guard !isAtEnd else { return false }
    let chunk: Data?
    do { chunk = try handle.read(upToCount: Self.chunkSize) } catch {
      throw .unreadable(path: path, problem: error.localizedDescription)
    }
    guard let chunk, !chunk.isEmpty else {
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
