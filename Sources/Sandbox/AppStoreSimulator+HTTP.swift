internal import AppStore
package import HTTP
internal import JSON
internal import SignedData

extension AppStoreSimulator {
  /// Answers a request to the simulated App Store.
  ///
  ///     POST /sandbox/v1/purchases       buys; the body is a ``PurchaseOrder`` in JSON
  ///     POST /sandbox/v1/documents/KIND  buys the same, and answers with one document about it: KIND is one
  ///                                      of ``SandboxDocumentKind``
  ///     GET  /sandbox/v1/root            the certificate to trust, PEM
  ///     GET  /sandbox/v1/apps            what there is to buy
  package nonisolated func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch (request.path, request.method) {
    case ("/sandbox/v1/purchases", "POST"): await purchase(request.body)
    case ("/sandbox/v1/purchases", _): .methodNotAllowed("POST")
    case ("/sandbox/v1/root", "GET"): rootCertificate
    case ("/sandbox/v1/apps", "GET"): .json(200, catalog.serialized(pretty: true))
    case ("/sandbox/v1/root", _), ("/sandbox/v1/apps", _): .methodNotAllowed("GET")
    case (let path, let method) where path.hasPrefix(Self.documents):
      if method == "POST" {
        await document(String(path.dropFirst(Self.documents.count)), request.body)
      } else {
        .methodNotAllowed("POST")
      }
    default: .error(404, code: "NOT_FOUND", message: "there is nothing at \(request.path)")
    }
  }

  private static let documents = "/sandbox/v1/documents/"

  private nonisolated func purchase(_ body: [UInt8]) async -> HTTPResponse {
    await answer { try await purchase(PurchaseOrder(body: body)).json }
  }

  private nonisolated func document(_ name: String, _ body: [UInt8]) async -> HTTPResponse {
    guard let kind = SandboxDocumentKind(rawValue: name) else {
      let known = SandboxDocumentKind.allCases.map(\.rawValue).joined(separator: ", ")
      return .error(404, code: "UNKNOWN_DOCUMENT", message: "there are documents of the kinds \(known)")
    }
    return await answer {
      let document = try await document(kind, about: PurchaseOrder(body: body))
      return ["kind": .string(name), "document": .string(document)]
    }
  }

  private nonisolated func answer(_ body: () async throws -> JSONObject) async -> HTTPResponse {
    do {
      return .json(200, try await body().serialized(pretty: true))
    } catch let refusal as PurchaseRefusal {
      return .error(400, code: refusal.code, message: refusal.description)
    } catch SandboxError.refused(let refusal) {
      return .error(400, code: refusal.code, message: refusal.description)
    } catch {
      return .error(500, code: "INTERNAL", message: "\(error)")
    }
  }

  private nonisolated var rootCertificate: HTTPResponse {
    HTTPResponse(
      status: 200, headers: HeaderFields([("content-type", "application/x-pem-file")]),
      body: Array(root.pem.utf8))
  }

  private nonisolated var catalog: JSONObject {
    ["apps": .array(apps.map { .object($0.json) })]
  }
}

extension HTTPResponse {
  fileprivate static func error(_ status: Int, code: String, message: String) -> HTTPResponse {
    let body: JSONObject = ["error": ["code": .string(code), "message": .string(message)]]
    return .json(status, body.serialized(pretty: true))
  }
}

extension Purchase {
  fileprivate var json: JSONObject {
    var json: JSONObject = [
      "transactionId": .string(transactionId),
      "originalTransactionId": .string(originalTransactionId),
      "productId": .string(productId),
      "environment": "Sandbox",
      "account": .string(account),
      "signedTransactionInfo": .string(signedTransactionInfo),
    ]
    json["signedRenewalInfo"] = signedRenewalInfo.map(JSONValue.string)
    return json
  }
}

extension SandboxApp {
  fileprivate var json: JSONObject {
    var json: JSONObject = ["app": .string(id), "bundleId": .string(identity.bundleID)]
    json["appAppleId"] = identity.appAppleID.map { .number(JSONNumber($0)) }
    json["products"] = .array(products.map { .object($0.json) })
    return json
  }
}

extension SandboxProduct {
  fileprivate var json: JSONObject {
    var json: JSONObject = ["productId": .string(productId), "type": .string(type.rawValue)]
    json["subscriptionGroupIdentifier"] = subscriptionGroupIdentifier.map(JSONValue.string)
    json["period"] = period.map { .string($0.description) }
    json["price"] = .number(JSONNumber(price))
    json["currency"] = .string(currency)
    return json
  }
}
