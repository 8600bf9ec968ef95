package import Foundation
internal import Platform

/// Reads files that a command names.
package enum InputFile {
  /// The content of a file, in memory.
  ///
  /// - Throws: ``Failure`` with the reason of the operating system.
  package static func contents(_ path: String) throws(Failure) -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw Failure("cannot read '\(path)': \(SystemError.text(under: error))")
    }
  }

  /// Opens a file to read it piece by piece.
  ///
  /// - Throws: ``Failure`` with the reason of the operating system, also for a folder.
  package static func opened(_ path: String) throws(Failure) -> FileHandle {
    let url = URL(fileURLWithPath: path)
    do {
      // A folder can be opened, but not read.
      let values = try url.resourceValues(forKeys: [.isDirectoryKey])
      guard values.isDirectory != true else { throw POSIXError(.EISDIR) }
      return try FileHandle(forReadingFrom: url)
    } catch {
      throw Failure("cannot read '\(path)': \(SystemError.text(under: error))")
    }
  }
}
