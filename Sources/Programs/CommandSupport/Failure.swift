internal import Foundation

/// An error that ends a program with a message and an exit status. Commands throw it for what the user can change;
/// other errors are printed by the argument parser.
package struct Failure: Error, CustomStringConvertible {
  /// The text for the standard error.
  package let message: String
  /// The exit status: 1 for an error, 3 for a fault or difference that was found, 64 (`EX_USAGE`) for wrong arguments.
  package var status: Int32

  /// Creates a failure; without a status, it is an error.
  package init(_ message: String, status: Int32 = 1) {
    self.message = message
    self.status = status
  }

  package var description: String { message }

  /// Ends the program with the message on the standard error, after the program's name.
  package func exit(_ program: String) -> Never {
    FileHandle.standardError.write(Data("\(program): \(message)\n".utf8))
    Foundation.exit(status)
  }
}

/// The version of the programs, as in CHANGELOG.md.
package enum Version {
  /// As `--version` prints it, and as metrics and traces name the process.
  package static let current = "0.1.0"
}
