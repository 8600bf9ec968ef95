package import Foundation
internal import Platform

/// Reads files that a command names.
package enum InputFile {
  /// The content of a file, in memory.
  ///
  /// - Throws: ``Failure`` with the reason of the operating system.
  package static func contents(_ path: String) throws(Failure) -> Data {
    // Unlike `Data(contentsOf:)`, a handle also reads pipes, such as those of `<(command)`.
    let file = try handle(path)
    do {
      return try file.readToEnd() ?? Data()
    } catch {
      throw Failure("cannot read '\(path)': \(SystemError.text(under: error))")
    }
  }

  /// Opens a file to read it piece by piece and several times.
  ///
  /// - Throws: ``Failure`` with the reason of the operating system, also for a folder or pipe.
  package static func opened(_ path: String) throws(Failure) -> FileHandle {
    if let file = FileIdentity(path: path), file.isSpecial {
      throw Failure("cannot read '\(path)': it is not a regular file; - reads the standard input")
    }
    return try handle(path)
  }

  private static func handle(_ path: String) throws(Failure) -> FileHandle {
    let url = URL(fileURLWithPath: path)
    do {
      // A folder can be opened, but not read. The values, unlike the handle, name the reason if there is no file.
      let values = try url.resourceValues(forKeys: [.isDirectoryKey])
      guard values.isDirectory != true else { throw POSIXError(.EISDIR) }
      return try FileHandle(forReadingFrom: url)
    } catch {
      throw Failure("cannot read '\(path)': \(SystemError.text(under: error))")
    }
  }
}
