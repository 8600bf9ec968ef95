internal import Bytes
internal import CommandSupport
internal import EntitledClient
internal import Foundation
internal import RPC
internal import SignedData
internal import Wire

/// Calls the server of a migration job, and retries while the server restarts.
struct MigrationClient {
  /// Retries end after this time without a response.
  private static let timeout = Duration.seconds(60)

  let client: ClientOptions

  /// Makes a call, and repeats it while the server is unreachable or unavailable. The call must be idempotent.
  func call<Response>(
    _ body: (ClientConnection) async throws(ClientError) -> Response
  ) async throws -> Response {
    let start = ContinuousClock.now
    while true {
      let failure: String
      do {
        return try await client.withUnmappedErrors(body)
      } catch let error as ClientError {
        guard error.isTransient else { throw Failure(error.description) }
        failure = error.description
      }
      guard ContinuousClock.now - start < Self.timeout else { throw Failure(failure) }
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}

extension ClientError {
  /// Whether a retry may succeed, because the server restarts or is busy.
  var isTransient: Bool {
    switch self {
    case .unreachable, .connectionLost: true
    case .failed(let status): status.code == .unavailable
    case .notGRPC: false
    }
  }
}

/// Uploads the input of a migration job in chunks.
struct MigrationUpload {
  private static let chunkSize = 1 << 20

  let input: String
  let app: String

  /// Uploads the bytes of the input that the server does not have yet.
  ///
  /// - Returns: the upload id: for a file, a hash of its content, so that a repeated command resumes the upload; for
  ///   the standard input, a random id.
  /// - Throws: ``Failure`` also for an empty input.
  func upload(to server: MigrationClient) async throws -> String {
    let handle: FileHandle
    let id: String
    if input == "-" {
      (handle, id) = (.standardInput, UUID().uuidString)
    } else {
      let file = try InputFile.opened(input)
      handle = file
      guard let content = try Self.contentID(of: file) else { throw emptyInput }
      id = content
      let stored = try await send([], id, at: 0, to: server)
      try file.seek(toOffset: UInt64(stored))
    }
    var offset = input == "-" ? 0 : Int64(try handle.offset())
    let size =
      input == "-"
      ? 0 : (try? URL(fileURLWithPath: input).resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
    let progress = ProgressLine()
    while let chunk = try handle.read(upToCount: Self.chunkSize), !chunk.isEmpty {
      let end = offset + Int64(chunk.count)
      offset = try await send(Array(chunk), id, at: offset, to: server)
      // Another command that uploads the same file may be ahead.
      if offset != end { try handle.seek(toOffset: UInt64(offset)) }
      progress.update(
        size > 0
          ? "uploading \(ProgressBar.text(Double(offset) / Double(size)))" : "uploaded \(offset >> 20) MiB")
    }
    progress.finish()
    guard offset > 0 else { throw emptyInput }
    return id
  }

  private func send(
    _ chunk: [UInt8], _ id: String, at offset: Int64, to server: MigrationClient
  ) async throws -> Int64 {
    try await server.call { connection async throws(ClientError) in
      try await connection.uploadMigrationInput(
        .with {
          $0.app = app
          $0.uploadId = id
          $0.offset = offset
          $0.data = chunk
        })
    }.size
  }

  private var emptyInput: Failure { Failure("the input '\(input)' is empty") }

  /// Returns a chained hash of the content: each chunk is hashed together with the hash of the previous chunks; `nil` for
  /// no content.
  private static func contentID(of file: FileHandle) throws -> String? {
    var hash: [UInt8] = []
    while let chunk = try file.read(upToCount: chunkSize), !chunk.isEmpty {
      hash = SHA256.hash((hash + chunk)[...])
    }
    return hash.isEmpty ? nil : Hex.encode(hash)
  }
}
