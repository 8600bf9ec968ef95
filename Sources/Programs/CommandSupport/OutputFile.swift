internal import Foundation
internal import Glibc
internal import Platform

/// Writes a file that a command names.
package struct OutputFile {
  private let path: String
  private let handle: FileHandle

  /// Opens the file and empties it; a new one can be read by this user only. Links, pipes and devices stay what they are,
  /// unlike with Foundation, which puts a new file in their place.
  ///
  /// - Throws: ``Failure`` with the reason of the operating system, and with status 64 for one of `inputs`.
  package init(_ path: String, besides inputs: [String]) throws(Failure) {
    try Self.require(path, besides: inputs)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure("cannot write '\(path)': \(SystemError.last)") }
    self.path = path
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  /// Requires that a file to be written is none of `inputs`, also under another name.
  package static func require(_ path: String, besides inputs: [String]) throws(Failure) {
    guard let file = FileIdentity(path: path) else { return }
    guard !inputs.contains(where: { FileIdentity(path: $0) == file }) else {
      throw Failure("'\(path)' is the input; name another file for the output", status: 64)
    }
  }

  /// Writes a text at the end.
  package func write(_ text: String) throws(Failure) {
    do { try handle.write(contentsOf: Data(text.utf8)) } catch {
      throw Failure("cannot write '\(path)': \(SystemError.text(under: error))")
    }
  }

  /// Closes the file, which is the last moment at which the system can report a failed write.
  package func close() throws(Failure) {
    do { try handle.close() } catch {
      throw Failure("cannot write '\(path)': \(SystemError.text(under: error))")
    }
  }
}
