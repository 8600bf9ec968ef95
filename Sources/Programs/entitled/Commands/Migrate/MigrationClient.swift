internal import EntitledClient
internal import Foundation
internal import RPC
internal import SignedData
internal import Wire

/// The server of a migration, which may be restarted meanwhile.
struct MigrationClient {
  /// For how long a server that cannot be reached is waited for.
  private static let patience = Duration.seconds(60)

  let client: ClientOptions

  /// Makes a call, again if the server went away; each may be made twice.
  func call<Response>(
    _ body: (ClientConnection) async throws(ClientError) -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    while true {
      let failure: String
      do {
        return try await client.withReachableServer(body)
      } catch let error as ClientError {
        guard error.mayPass else { throw Failure(error.description) }
        failure = error.description
      }
      guard ContinuousClock.now - start < Self.patience else { throw Failure(failure) }
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}

extension ClientError {
  /// Whether the server may only be restarting, or busy.
  fileprivate var mayPass: Bool {
    switch self {
    case .unreachable, .connectionLost: true
    case .failed(let status): status.code == .unavailable
    case .notGRPC: false
    }
  }
}

/// The input of a job on its way to the server.
struct MigrationUpload {
  private static let pieceSize = 1 << 20

  let input: String

  /// Hands the input over, or what of it the server does not have yet.
  ///
  /// - Returns: the name under which the server has it: for a file, its hash, so that the same file goes on where
  ///   it was; for the standard input, a new one.
  func handOver(to server: MigrationClient) async throws -> String {
    let handle: FileHandle
    let id: String
    if input == "-" {
      (handle, id) = (.standardInput, UUID().uuidString)
    } else {
      guard let file = FileHandle(forReadingAtPath: input) else { throw Failure("cannot read \(input)") }
      handle = file
      id = try Self.name(of: file)
      let known = try await send([], id, at: 0, to: server)
      try file.seek(toOffset: UInt64(known))
    }
    var offset = input == "-" ? 0 : Int64(try handle.offset())
    while let piece = try handle.read(upToCount: Self.pieceSize), !piece.isEmpty {
      offset = try await send(Array(piece), id, at: offset, to: server)
    }
    return id
  }

  private func send(
    _ piece: [UInt8], _ id: String, at offset: Int64, to server: MigrationClient
  ) async throws -> Int64 {
    try await server.call { connection async throws(ClientError) in
      try await connection.uploadMigrationInput(
        .with {
          $0.uploadId = id
          $0.offset = offset
          $0.data = piece
        })
    }.size
  }

  /// A name that only the same content has: each piece is hashed together with the hash of those before it.
  private static func name(of file: FileHandle) throws -> String {
    var hash: [UInt8] = []
    while let piece = try file.read(upToCount: pieceSize), !piece.isEmpty {
      hash = try SHA256.hash((hash + piece)[...])
    }
    return hash.isEmpty ? "empty" : hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
