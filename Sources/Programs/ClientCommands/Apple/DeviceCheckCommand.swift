internal import ArgumentParser
internal import CommandSupport
internal import EntitledClient
internal import Wire

/// `entitled device-check`: Apple's DeviceCheck.
struct DeviceCheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device-check", abstract: "Check devices, and limit free trials by device.",
    subcommands: [
      ValidateDeviceCommand.self, DeviceBitsCommand.self, SetDeviceBitsCommand.self, DeviceTrialCommand.self,
      UseDeviceTrialCommand.self,
    ])
}

/// The device of a command.
struct DeviceOptions: ParsableArguments {
  @Argument(help: "Device token in Base64: the text, @FILE, or - for the standard input.") var device: String

  func token() throws -> String { try Document.read(device) }
}

/// `entitled device-check validate`.
struct ValidateDeviceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate", abstract: "Validate a device token at Apple.",
    discussion: "Exit status 0 if the token is valid, 3 if not.")

  @OptionGroup var options: ScopedOptions
  @OptionGroup var device: DeviceOptions

  func run() async throws {
    let token = try device.token()
    let request: ValidateDeviceTokenRequest = try await options.request { $0.deviceToken = token }
    let response = try await options.withConnection { try await $0.validateDeviceToken(request) }
    options.show(
      response, [("token", response.valid ? "valid" : "not valid"), ("error", response.error)])
    if !response.valid { throw ExitCode(3) }
  }
}

/// `entitled device-check bits`.
struct DeviceBitsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bits", abstract: "Show the two bits of a device.")

  @OptionGroup var options: ScopedOptions
  @OptionGroup var device: DeviceOptions

  func run() async throws {
    let token = try device.token()
    let request: QueryDeviceBitsRequest = try await options.request { $0.deviceToken = token }
    let response = try await options.withConnection { try await $0.queryDeviceBits(request) }
    options.showList(response, response.bits?.rows ?? [], empty: "the bits were never set")
  }
}

/// `entitled device-check set-bits`.
struct SetDeviceBitsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set-bits", abstract: "Set bits of a device.",
    discussion: "A bit without an option keeps its value.")

  @OptionGroup var options: ScopedChangeOptions
  @OptionGroup var device: DeviceOptions

  @Option(help: "Value of the first bit: true or false (default: unchanged).") var bit0: Bool?
  @Option(help: "Value of the second bit: true or false (default: unchanged).") var bit1: Bool?

  func run() async throws {
    let token = try device.token()
    let request: UpdateDeviceBitsRequest = try await options.request {
      $0.deviceToken = token
      $0.bit0 = bit0
      $0.bit1 = bit1
    }
    let response = try await options.withConnection { try await $0.updateDeviceBits(request) }
    options.show(
      response, (response.bits?.rows ?? []) + [("accepted", response.acceptedAt.text)])
  }
}

/// `entitled device-check trial`.
struct DeviceTrialCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trial", abstract: "Show whether a device may have a free trial.",
    discussion: "Exit status 0 if a free trial may be offered, 3 if one was used on the device.")

  @OptionGroup var options: ScopedOptions
  @OptionGroup var device: DeviceOptions

  func run() async throws {
    let token = try device.token()
    let request: GetDeviceTrialRequest = try await options.request { $0.deviceToken = token }
    let response = try await options.withConnection { try await $0.getDeviceTrial(request) }
    options.show(
      response,
      [("trial", response.mayOffer ? "may be offered" : "used"), ("last update", response.lastUpdate)])
    if !response.mayOffer { throw ExitCode(3) }
  }
}

/// `entitled device-check use-trial`.
struct UseDeviceTrialCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "use-trial", abstract: "Mark the free trial of a device as used.")

  @OptionGroup var options: ScopedChangeOptions
  @OptionGroup var device: DeviceOptions

  @Option(help: "Customer who uses the trial, for the audit log (default: none).") var customer = ""

  func run() async throws {
    let token = try device.token()
    let request: UseDeviceTrialRequest = try await options.request {
      $0.deviceToken = token
      $0.customerId = customer
    }
    let response = try await options.withConnection { try await $0.useDeviceTrial(request) }
    options.show(
      response,
      [
        ("trial", response.alreadyUsed ? "was used before" : "marked as used"),
        ("accepted", response.acceptedAt.text),
      ])
  }
}

extension DeviceBits {
  fileprivate var rows: [(String, String)] {
    [("bit0", "\(bit0)"), ("bit1", "\(bit1)"), ("last update", lastUpdate)]
  }
}
