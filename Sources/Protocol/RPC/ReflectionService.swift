internal import Wire

/// `grpc.reflection.v1.ServerReflection` and its older name `v1alpha`: the contract, for clients that
/// have no copy of it.
///
/// The two versions have the same messages under two package names, so the same code answers both.
package struct ReflectionService: Sendable {
  /// Full names of what the server serves.
  private let services: [String]

  package init(services: [String]) { self.services = services.sorted() }

  package static let names = [
    "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
  ]

  package var methods: [Method] {
    Self.names.map { name in
      .bidirectional("/\(name)/ServerReflectionInfo") {
        (
          requests: RequestReader<GRPCReflection.ServerReflectionRequest>,
          responses: ResponseWriter<GRPCReflection.ServerReflectionResponse>, _
        ) async throws(Status) in
        while let request = try await requests.next() {
          try await responses.write(answer(to: request))
        }
      }
    }
  }

  func answer(to request: GRPCReflection.ServerReflectionRequest) -> GRPCReflection.ServerReflectionResponse {
    .with { response in
      response.validHost = request.host
      response.originalRequest = request
      response.messageResponse = messageResponse(to: request.messageRequest)
    }
  }

  private func messageResponse(
    to request: GRPCReflection.ServerReflectionRequest.MessageRequest?
  ) -> GRPCReflection.ServerReflectionResponse.MessageResponse {
    switch request {
    case .listServices:
      .listServicesResponse(.with { $0.service = services.map { name in .with { $0.name = name } } })
    case .fileByFilename(let name):
      files(FileDescriptors.closure(ofFileNamed: name), "there is no file \(name)")
    case .fileContainingSymbol(let symbol):
      files(
        FileDescriptors.fileName(containingSymbol: symbol).map(FileDescriptors.closure) ?? [],
        "there is no symbol \(symbol)")
    case .fileContainingExtension, .allExtensionNumbersOfType:
      error(.notFound, "the contract has no extensions")
    case nil:
      error(.invalidArgument, "message_request is not set")
    }
  }

  /// The file with all that it imports, so that one answer is enough.
  private func files(
    _ found: [[UInt8]], _ otherwise: String
  ) -> GRPCReflection.ServerReflectionResponse.MessageResponse {
    guard !found.isEmpty else { return error(.notFound, otherwise) }
    return .fileDescriptorResponse(.with { $0.fileDescriptorProto = found })
  }

  private func error(
    _ code: StatusCode, _ message: String
  ) -> GRPCReflection.ServerReflectionResponse.MessageResponse {
    .errorResponse(
      .with {
        $0.errorCode = Int32(code.rawValue)
        $0.errorMessage = message
      })
  }
}
