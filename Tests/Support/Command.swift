package import Foundation
internal import Glibc

/// Runs programs that tests compare with.
///
/// Not with Foundation's `Process`, because its way to find the open files of this process crashes under the address
/// sanitizer.
package enum Command {
  package struct Output {
    /// Whether the program ended with status 0.
    package let hasSucceeded: Bool
    /// The bytes of standard output, as text.
    package let text: String
  }

  /// A program that runs, and ends at the latest when its input is closed, as it is at the end of this process.
  package struct Running: Sendable {
    package let input: FileHandle
    package let output: FileHandle
  }

  /// Starts the program at `path`, with pipes as its standard input and output.
  package static func start(_ path: String, _ arguments: [String]) throws -> Running {
    let (input, output) = (try pipe(), try pipe())
    defer {
      close(input.readEnd)
      close(output.writeEnd)
    }
    _ = try start([path] + arguments, input: input.readEnd, output: output.writeEnd, dropsErrors: false)
    return Running(
      input: FileHandle(fileDescriptor: input.writeEnd, closeOnDealloc: true),
      output: FileHandle(fileDescriptor: output.readEnd, closeOnDealloc: true))
  }

  /// Runs the program at `path` in `folder`, and waits for its end. It inherits the environment; standard input is
  /// empty, and standard error is dropped.
  package static func run(_ path: String, _ arguments: [String], in folder: URL? = nil) throws -> Output {
    let (readEnd, writeEnd) = try pipe()
    let process: pid_t
    do {
      defer { close(writeEnd) }
      // `posix_spawn` cannot change the folder in every C library.
      let prefix = folder.map { ["/usr/bin/env", "--chdir=\($0.path)"] } ?? []
      process = try start(prefix + [path] + arguments, input: nil, output: writeEnd, dropsErrors: true)
    } catch {
      close(readEnd)
      throw error
    }
    let output = FileHandle(fileDescriptor: readEnd, closeOnDealloc: true)
    let text = String(decoding: try output.readToEnd() ?? Data(), as: UTF8.self)
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0 { try check(errno == EINTR ? 0 : errno) }
    return Output(hasSucceeded: status == 0, text: text)
  }

  /// The ends of a pipe, which the programs do not inherit.
  private static func pipe() throws -> (readEnd: CInt, writeEnd: CInt) {
    var ends: [CInt] = [0, 0]
    try check(Glibc.pipe(&ends) == 0 ? 0 : errno)
    for end in ends { try check(fcntl(end, F_SETFD, FD_CLOEXEC) == 0 ? 0 : errno) }
    return (ends[0], ends[1])
  }

  /// Starts a program; its standard input is empty without `input`.
  private static func start(
    _ command: [String], input: CInt?, output: CInt, dropsErrors: Bool
  ) throws -> pid_t {
    var files = posix_spawn_file_actions_t()
    try check(posix_spawn_file_actions_init(&files))
    defer { posix_spawn_file_actions_destroy(&files) }
    if let input {
      try check(posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO))
    } else {
      try check(posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0))
    }
    try check(posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO))
    if dropsErrors {
      try check(posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0))
    }
    let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
    return try withCStrings(command) { arguments in
      try withCStrings(environment) { environment in
        var process = pid_t()
        try check(posix_spawn(&process, command[0], &files, nil, arguments, environment))
        return process
      }
    }
  }

  /// Lends a list of C strings that ends with a null pointer.
  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
  ) rethrows -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return try body(copies + [nil])
  }

  private static func check(_ error: CInt) throws {
    if error != 0 { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO) }
  }
}
