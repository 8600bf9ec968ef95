internal import Foundation

/// A file that is read from some place on, line by line, with as much memory as its longest line needs.
final class InputFile {
  /// A receipt of some ten thousand purchases in base64, and names around it.
  static let maxLineLength = 24 << 20
  private static let chunkSize = 256 << 10

  private let path: String
  private let handle: FileHandle
  private var buffer: [UInt8] = []
  /// Where `buffer` begins in the file, and how far into it was read.
  private var base: Int64
  private var next = 0
  private var isAtEnd = false

  /// Opens the file, to be read from `position` on.
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

  /// Where the next line begins.
  var position: Int64 { base + Int64(next) }

  /// The first byte that is no white space, from here on; the place does not move.
  func peek() throws(InputError) -> UInt8? {
    while true {
      if let byte = buffer[next...].first(where: { $0 > 0x20 }) { return byte }
      guard try fill() else { return nil }
    }
  }

  /// The next line without its end; `nil` at the end of the file. With `quote`, an end between two of these
  /// is none.
  ///
  /// - Throws: ``InputError/lineTooLong(limit:)``; the place is then behind the line.
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

  /// Reads on, and forgets what was taken. False at the end of the file.
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
