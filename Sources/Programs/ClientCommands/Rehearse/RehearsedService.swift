internal import Conformance
internal import EntitledClient
internal import RPC
internal import Wire

/// A running service as the backend of a rehearsal: it inspects documents, and fetches transactions as it does for its
/// own work. Notifications reach it beside the rehearsal, from the sandbox.
struct RehearsedService: RehearsedBackend {
  private let connection: ClientConnection
  private let app: String

  init(_ connection: ClientConnection, app: String) {
    self.connection = connection
    self.app = app
  }

  func verify(_ document: RehearsedDocument) async throws(BackendFailure) -> VerificationAnswer {
    let request = InspectRequest.with {
      $0.app = app
      $0.content = .document(document.text)
    }
    let response: InspectResponse
    do throws(ClientError) { response = try await connection.inspect(request) } catch {
      throw BackendFailure(error)
    }
    return response.verified ? .accepted(payload: nil) : .rejected(reason: response.reason)
  }

  /// Fetches a transaction with `GetTransactionInfo`: the service verifies and stores Apple's answer.
  /// Unsupported without a key for the App Store Server API.
  func fetch(transaction id: String) async throws(BackendFailure) -> VerificationAnswer {
    let request = GetTransactionInfoRequest.with {
      $0.app = app
      $0.transactionId = id
    }
    do throws(ClientError) {
      _ = try await connection.getTransactionInfo(request)
      return .accepted(payload: nil)
    } catch {
      guard case .failed(let status) = error else { throw BackendFailure(error) }
      return status.reason == "NO_IN_APP_PURCHASE_KEY" ? .unsupported : .rejected(reason: status.reason)
    }
  }
}

extension BackendFailure {
  fileprivate init(_ error: ClientError) {
    let isUnreachable =
      switch error {
      case .unreachable, .connectionLost: true
      case .failed, .notGRPC: false
      }
    self.init(error.description, isUnreachable: isUnreachable)
  }
}
