internal import AppStore
internal import Bytes
internal import DeviceCheck
internal import Entitlements
internal import JSON
internal import Ledger
internal import Platform
internal import RPC
internal import SignedData
internal import Wire

// Changes of the bits. Evidence has the hash of the device token instead of the token, which identifies a device.
extension DeviceCheckServiceHandler {
  /// Sets one bit or both. Apple has no request for one bit, so the other one is read first, after other changes of the
  /// team.
  /// Apple's request: `update_two_bits` of DeviceCheck. It ends after ``longestChange`` at the latest.
  ///
  /// - Throws: `MISSING_FIELD` without a bit.
  func updateDeviceBits(
    _ request: UpdateDeviceBitsRequest, _ call: CallContext
  ) async throws(Status) -> UpdateDeviceBitsResponse {
    let request = request.attributed(to: call)
    let deadline = Self.deadline(ofChange: call)
    let once = Idempotency(of: request, call, context)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      guard request.bit0 != nil || request.bit1 != nil else {
        throw .missingField("bit0", "bit0 and bit1 are not set")
      }
      let call = try self.call(request.app, request.environment, request.deviceToken, until: deadline)
      return try await changingAlone(call) { () async throws(Status) -> UpdateDeviceBitsResponse in
        var bits = AppStoreBits(bit0: request.bit0 ?? false, bit1: request.bit1 ?? false)
        if request.bit0 == nil || request.bit1 == nil, let known = try await call.bits() {
          bits.bit0 = request.bit0 ?? known.bit0
          bits.bit1 = request.bit1 ?? known.bit1
        }
        let scope = CommandScope(
          appID: call.app.id, environment: call.environment, actor: request.actor, note: request.note)
        try await update(bits, "UpdateDeviceBits", once, call, scope)
        return try await store(bits, "UpdateDeviceBits", once, call, scope) { [bits] in
          .with {
            $0.bits = Wire.DeviceBits(bits)
            $0.acceptedAt = GoogleProtobuf.Timestamp(context.now(in: call.environment))
          }
        }
      }
    }
  }

  /// Sets the bit of the trial policy unless it is set; `already_used` reports that it was.
  ///
  /// - Throws: `NO_TRIAL_POLICY` without `trial_once_per_device`.
  func useDeviceTrial(
    _ request: UseDeviceTrialRequest, _ call: CallContext
  ) async throws(Status) -> UseDeviceTrialResponse {
    let request = request.attributed(to: call)
    let deadline = Self.deadline(ofChange: call)
    let once = Idempotency(of: request, call, context)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      let call = try self.call(request.app, request.environment, request.deviceToken, until: deadline)
      let bit = try call.trialBit()
      return try await changingAlone(call) { () async throws(Status) -> UseDeviceTrialResponse in
        var bits = try await call.bits() ?? AppStoreBits(bit0: false, bit1: false)
        // The call that set the bit may be this one, whose response was lost: then the trial is still its own.
        let isSet = bits[bit]
        if isSet, try await !once.hasUnknownResult() { return .with { $0.alreadyUsed = true } }
        bits[bit] = true
        let scope = CommandScope(
          appID: call.app.id, environment: call.environment, actor: request.actor, note: request.note)
        if !isSet { try await update(bits, "UseDeviceTrial", once, call, scope) }
        return try await store(bits, "UseDeviceTrial", once, call, scope) {
          .with { $0.acceptedAt = GoogleProtobuf.Timestamp(context.now(in: call.environment)) }
        }
      }
    }
  }

  /// Runs a change after the other changes of the team's devices. Each token of a device is another, so two changes may be
  /// about one device, and Apple stores both bits without a condition.
  private func changingAlone<Response: Sendable>(
    _ call: Call, _ body: () async throws(Status) -> Response
  ) async throws(Status) -> Response {
    try await context.appleLocks.holding(
      "device bits \(call.client.teamID) \(call.environment.rawValue)", body)
  }

  /// Sets the bits at Apple. A change that failed, but may have had an effect, had it if the device has the bits now: no
  /// other change runs. Only if Apple does not return the bits either, the result stays unknown for the idempotency key.
  private func update<Request: RepeatableRequest>(
    _ bits: AppStoreBits, _ method: String, _ once: Idempotency<Request>, _ call: Call, _ scope: CommandScope
  ) async throws(Status) {
    try await once.begin(scope)
    do throws(DeviceCheckError) {
      try await call.client.update(bits, of: call.device, timeout: call.timeout)
    } catch {
      if case .refused(let text) = error {
        let refused = call.record(
          method, bits, answer: AppleCall.refusal(APIErrorCode(rawValue: 400), message: text))
        _ = try await mapLedgerError { () async throws(LedgerError) in
          try await context.ledger.record(refused, scope)
        }
      }
      let isSet = error.hadNoEffect ? false : await call.has(bits)
      if isSet == true { return }
      if isSet == false { try await once.discard() }
      throw Status(error)
    }
  }

  /// Stores that the bits were set, with the response for the idempotency key.
  private func store<Request: RepeatableRequest>(
    _ bits: AppStoreBits, _ method: String, _ once: Idempotency<Request>, _ call: Call,
    _ scope: CommandScope, response: () -> Request.Response
  ) async throws(Status) -> Request.Response {
    let message = response()
    return try await once.run(scope, afterApple: true) { scope async throws(LedgerError) in
      try await context.ledger.record(call.record(method, bits, answer: [:]), scope)
    } response: { _ in
      message
    }
  }
}

extension DeviceCheckServiceHandler.Call {
  /// Whether the device has the bits now; `nil` if Apple does not return them.
  fileprivate func has(_ bits: AppStoreBits) async -> Bool? {
    do throws(Status) {
      let now = try await self.bits() ?? AppStoreBits(bit0: false, bit1: false)
      return now.bit0 == bits.bit0 && now.bit1 == bits.bit1
    } catch {
      return nil
    }
  }

  /// The call as evidence stores it.
  fileprivate func record(_ method: String, _ bits: AppStoreBits, answer: JSONObject) -> AppleCall {
    AppleCall(
      method: method, originalTransactionID: "", target: "POST /v1/update_two_bits",
      request: [
        "device_token_sha256": .string(Hex.encode(SHA256.hash(Array(device.deviceToken.utf8)[...]))),
        "transaction_id": .string(device.transactionID), "bit0": .bool(bits.bit0), "bit1": .bool(bits.bit1),
      ], answer: answer)
  }
}
