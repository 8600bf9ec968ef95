internal import Wire

/// `grpc.reflection.v1.ServerReflection` and its older version `v1alpha`: the contract for clients without a
/// copy of it.
///
/// Both versions have the same messages under different package names, so the same handler serves both.
package struct ReflectionService: Sendable {
  /// The full names of the services.
  private let services: [String]
  private let pace = ReflectionPace()

  package init(services: [String]) { self.services = services.sorted() }

  /// The full names of both versions.
  package static let names = [
    "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
  ]

  /// Whether the path is that of one of its methods.
  package static func serves(_ path: String) -> Bool { path.hasPrefix("/grpc.reflection.") }

  package var methods: [Method] {
    Self.names.map { name in
      .bidirectional("/\(name)/ServerReflectionInfo") {
        (
          requests: RequestReader<GRPCReflection.ServerReflectionRequest>,
          responses: ResponseWriter<GRPCReflection.ServerReflectionResponse>, _
        ) async throws(Status) in
        while let request = try await requests.next() {
          let answer = answer(to: request)
          try await wait(toSend: answer)
          try await responses.write(answer)
        }
      }
    }
  }

  /// Waits until the pace permits an answer. It is encoded afterwards, so that those who wait share the descriptors.
  private func wait(toSend answer: GRPCReflection.ServerReflectionResponse) async throws(Status) {
    var bytes = 0
    if case .fileDescriptorResponse(let files) = answer.messageResponse {
      bytes = files.fileDescriptorProto.reduce(0) { $0 + $1.count }
    }
    guard let delay = pace.delay(of: bytes, at: .now) else {
      throw Status(.resourceExhausted, "too many reflection requests wait; try again")
    }
    // A call that has ended meanwhile fails to send.
    if delay > .zero { try? await Task.sleep(for: delay) }
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
      files(FileDescriptors.closure(ofFileNamed: name), "unknown file '\(name.excerpt)'")
    case .fileContainingSymbol(let symbol):
      files(
        FileDescriptors.fileName(containingSymbol: symbol).map(FileDescriptors.closure) ?? [],
        "unknown symbol '\(symbol.excerpt)'")
    case .fileContainingExtension(let wanted):
      files(
        FileDescriptors.fileName(containingExtension: wanted.extensionNumber, of: wanted.containingType)
          .map(FileDescriptors.closure) ?? [],
        "unknown extension \(wanted.extensionNumber) of '\(wanted.containingType.excerpt)'")
    case .allExtensionNumbersOfType(let type):
      extensionNumbers(of: type)
    case nil:
      error(.invalidArgument, "message_request is not set")
    }
  }

  /// Clients that print a message ask for its extensions, mostly of messages that have none.
  private func extensionNumbers(
    of type: String
  ) -> GRPCReflection.ServerReflectionResponse.MessageResponse {
    guard let numbers = FileDescriptors.extensionNumbers(of: type) else {
      return error(.notFound, "unknown message '\(type.excerpt)'")
    }
    return .allExtensionNumbersResponse(
      .with {
        $0.baseTypeName = type
        $0.extensionNumber = numbers
      })
  }

  /// The file with all its imports, so that one response is enough.
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
