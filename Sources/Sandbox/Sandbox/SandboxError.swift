package import SignedData

/// Why the simulated App Store did not do what it was asked.
package enum SandboxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The order is not one that can be filled; the buyer can correct it.
  case actionFailed(ActionError)
  /// A file or directory could not be used; `detail` is the system's text.
  case unusable(path: String, detail: String)
  /// Another process keeps its state in the same directory.
  case inUse(path: String)
  /// A file of the state is missing or is not what was written there.
  case corrupt(path: String, detail: String)
  /// A newer version of the program wrote the state; this one does not know its schema.
  case newerSchema(path: String, found: Int, supported: Int)
  case cryptographyFailed(CryptographyError)

  package var description: String {
    switch self {
    case .actionFailed(let error): error.description
    case .unusable(let path, let detail): "cannot use \(path): \(detail)"
    case .inUse(let path): "another sandbox is using \(path)"
    case .corrupt(let path, let detail): "\(path) is corrupt: \(detail)"
    case .newerSchema(let path, let found, let supported):
      "\(path) has schema version \(found), and this program knows versions up to \(supported)"
    case .cryptographyFailed(let error): error.description
    }
  }
}
