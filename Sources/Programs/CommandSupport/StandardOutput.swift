// `stdout` is a variable of C, which nothing changes.
@preconcurrency internal import Glibc
internal import Platform

/// The standard output. `print` reports no errors: they are found here, at the latest when the program ends.
package enum StandardOutput {
  /// Writes bytes after what was printed.
  ///
  /// - Throws: ``Failure`` as ``flush()``.
  package static func write(_ bytes: [UInt8]) throws(Failure) {
    _ = fwrite(bytes, 1, bytes.count, stdout)
    if ferror(stdout) != 0 { try flush() }
  }

  /// Writes what was printed so far.
  ///
  /// - Throws: ``Failure`` if anything that was printed is lost; not if its reader has closed the pipe.
  package static func flush() throws(Failure) {
    let isFlushed = fflush(stdout) == 0
    let reason = isFlushed ? "a part is lost" : SystemError.last
    guard !isFlushed || ferror(stdout) != 0, !isClosedPipe else { return }
    throw Failure("cannot write the standard output: \(reason)")
  }

  /// Whether it is a pipe that nothing reads any more. An earlier error of a stream has no number that would tell.
  private static var isClosedPipe: Bool {
    var state = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&state, 1, 0) > 0 && state.revents & Int16(POLLERR) != 0
  }
}
