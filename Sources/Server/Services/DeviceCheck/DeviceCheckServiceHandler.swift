internal import AppStore
internal import DeviceCheck
internal import Entitlements
internal import Ledger
internal import RPC
internal import Wire

/// `entitled.v1.DeviceCheckService`: the bits of devices at Apple, and the policy that a device has one free trial. Each
/// change is stored as evidence, without the device token.
struct DeviceCheckServiceHandler: DeviceCheckServiceMethods {
  let context: ServiceContext

  /// The time for a change without a timeout of the caller, because other changes wait for it.
  private static let longestChange = Duration.seconds(30)

  /// One call to Apple: the app, the environment, the device and the deadline of the caller.
  struct Call: Sendable {
    let app: AppDefinition
    let environment: AppStore.Environment
    /// Signs requests with the app's DeviceCheck key.
    let client: DeviceCheckClient
    /// The device token, and a random transaction id that all attempts have.
    let device: DeviceCheckRequest
    /// `nil` if the caller has none.
    let deadline: ContinuousClock.Instant?

    /// The time that is left, which is negative after the deadline.
    var timeout: Duration? { deadline.map { ContinuousClock.now.duration(to: $0) } }

    /// Returns the bits of the device; `nil` if they were never set.
    func bits() async throws(Status) -> AppStoreBits? {
      do throws(DeviceCheckError) { return try await client.bits(of: device, timeout: timeout) } catch {
        throw Status(error)
      }
    }

    /// The bit of the policy `trial_once_per_device`.
    func trialBit() throws(Status) -> DeviceBit {
      guard let bit = app.trialBit else {
        throw Status(
          .failedPrecondition, reason: "NO_TRIAL_POLICY",
          "app '\(app.id)' has no trial_once_per_device in device_check")
      }
      return bit
    }
  }

  /// When a change that arrived just now has to end.
  static func deadline(ofChange call: CallContext) -> ContinuousClock.Instant {
    .now + min(call.remainingTime ?? longestChange, longestChange)
  }

  /// Prepares a call that reads; it ends at the caller's deadline.
  func call(
    _ appID: String, _ environment: Wire.Environment, _ deviceToken: String, _ call: CallContext
  ) throws(Status) -> Call {
    try self.call(appID, environment, deviceToken, until: call.remainingTime.map { ContinuousClock.now + $0 })
  }

  /// Prepares a call that ends at `deadline`; `nil`: the caller has none.
  ///
  /// - Throws: `MISSING_FIELD` for an empty device token, `UNKNOWN_APP`, `WRONG_ENVIRONMENT`, `NO_DEVICE_CHECK_KEY`.
  func call(
    _ appID: String, _ environment: Wire.Environment, _ deviceToken: String,
    until deadline: ContinuousClock.Instant?
  ) throws(Status) -> Call {
    try RequestValidation.given(deviceToken, "device_token")
    let app = try context.catalog.value.app(appID)
    let environment = try app.environment(environment)
    do throws(DeviceCheckError) {
      return Call(
        app: app, environment: environment,
        client: try context.apple.deviceCheck.client(for: appID, in: environment),
        device: DeviceCheckRequest(deviceToken: deviceToken), deadline: deadline)
    } catch {
      throw Status(error)
    }
  }

  /// Lets Apple validate the token. A refused token is a response with `error`, not a failed call.
  /// Apple's request: `validate_device_token` of DeviceCheck.
  func validateDeviceToken(
    _ request: ValidateDeviceTokenRequest, _ call: CallContext
  ) async throws(Status) -> ValidateDeviceTokenResponse {
    let call = try self.call(request.app, request.environment, request.deviceToken, call)
    do throws(DeviceCheckError) {
      try await call.client.validate(call.device, timeout: call.timeout)
      return .with { $0.valid = true }
    } catch {
      guard case .refused(let text) = error else { throw Status(error) }
      return .with { $0.error = text }
    }
  }

  /// Returns the bits; the response has none if they were never set.
  /// Apple's request: `query_two_bits` of DeviceCheck, which returns the month of the last change.
  func queryDeviceBits(
    _ request: QueryDeviceBitsRequest, _ call: CallContext
  ) async throws(Status) -> QueryDeviceBitsResponse {
    let call = try self.call(request.app, request.environment, request.deviceToken, call)
    let bits = try await call.bits()
    return .with { $0.bits = bits.map(Wire.DeviceBits.init) }
  }

  /// Reads the bit of the trial policy. The result is no reservation: only ``useDeviceTrial(_:_:)`` decides.
  ///
  /// - Throws: `NO_TRIAL_POLICY` without `trial_once_per_device`.
  func getDeviceTrial(
    _ request: GetDeviceTrialRequest, _ call: CallContext
  ) async throws(Status) -> GetDeviceTrialResponse {
    let call = try self.call(request.app, request.environment, request.deviceToken, call)
    let bit = try call.trialBit()
    let bits = try await call.bits()
    return .with {
      $0.mayOffer = bits?[bit] != true
      $0.lastUpdate = bits?.lastUpdate ?? ""
    }
  }
}

/// The bits as the client has them; the contract has a message of the same name.
typealias AppStoreBits = DeviceCheck.DeviceBits

extension AppStoreBits {
  /// The bit that the policy names.
  subscript(bit: DeviceBit) -> Bool {
    get {
      switch bit {
      case .bit0: bit0
      case .bit1: bit1
      }
    }
    set {
      switch bit {
      case .bit0: bit0 = newValue
      case .bit1: bit1 = newValue
      }
    }
  }
}

extension Wire.DeviceBits {
  init(_ bits: AppStoreBits) {
    self.init()
    bit0 = bits.bit0
    bit1 = bits.bit1
    lastUpdate = bits.lastUpdate
  }
}
