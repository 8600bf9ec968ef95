internal import CommandSupport
internal import Foundation
internal import Transport

/// The listening sockets of systemd's socket activation (`LISTEN_PID`, `LISTEN_FDS`, `LISTEN_FDNAMES`; see
/// `sd_listen_fds(3)`).
///
/// They stay open while the service restarts, so that connections wait instead of being refused.
struct InheritedSockets: Sendable {
  private var sockets: [String: InheritedSocket] = [:]

  /// The gRPC socket; `nil` if the service must open it.
  var grpc: InheritedSocket? { sockets["grpc"] }
  /// The edge socket; `nil` if the service must open it.
  var http: InheritedSocket? { sockets["http"] }

  /// Reads the environment variables. There are no sockets if `LISTEN_PID` is another process.
  ///
  /// - Throws: ``Failure`` for a socket without a known name, and for a descriptor that is no listening TCP socket.
  init() throws {
    guard ServerOption.environment("LISTEN_PID") == "\(getpid())",
      let count = ServerOption.environment("LISTEN_FDS").flatMap(CInt.init)
    else { return }
    let names = (ServerOption.environment("LISTEN_FDNAMES") ?? "").split(
      separator: ":", omittingEmptySubsequences: false)
    guard names.count == Int(count) else {
      throw Failure("LISTEN_FDS has \(count) sockets, but LISTEN_FDNAMES has \(names.count) names")
    }
    for (name, descriptor) in zip(names, Self.firstDescriptor...) {
      guard ["grpc", "http"].contains(name) else {
        throw Failure("unknown inherited socket '\(name)'; set FileDescriptorName= to 'grpc' or 'http'")
      }
      guard let socket = InheritedSocket(descriptor: descriptor) else {
        throw Failure(
          "the inherited socket '\(name)' (descriptor \(descriptor)) is not a listening TCP socket")
      }
      guard sockets.updateValue(socket, forKey: String(name)) == nil else {
        throw Failure("two inherited sockets are named '\(name)'")
      }
    }
  }

  /// systemd's SD_LISTEN_FDS_START.
  private static let firstDescriptor: CInt = 3
}
