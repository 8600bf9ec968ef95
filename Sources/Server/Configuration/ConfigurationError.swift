/// Why a configuration cannot be used.
package enum ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file cannot be read; `reason` is the operating system's.
  case unreadable(file: String, reason: String)
  /// Something in the file is wrong. Lines count from 1; `nil` if no place can be named.
  case invalid(file: String, line: Int?, problem: String)

  package var description: String {
    switch self {
    case .unreadable(let file, let reason): "cannot read the configuration \(file): \(reason)"
    case .invalid(let file, let line?, let problem): "\(file):\(line): \(problem)"
    case .invalid(let file, nil, let problem): "\(file): \(problem)"
    }
  }
}
