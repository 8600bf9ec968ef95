internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Callers
internal import Entitlements
internal import JSON
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `entitled.v1.StatusService`: the state of the service, its configuration, and the caller.
struct StatusServiceHandler: StatusServiceMethods {
  let context: ServiceContext

  /// Returns the caller as the interceptors authenticated it. Any role suffices, so that a client can test its token.
  func whoAmI(_ request: WhoAmIRequest, _ call: CallContext) async throws(Status) -> WhoAmIResponse {
    let apps = CallScope.apps(of: context.catalog.value.appIDs)
    return .with {
      guard let caller = CallScope.current?.caller else { return }
      $0.caller = caller.name
      $0.roles = Role.allCases.filter(caller.has).map(\.rawValue)
      $0.apps = apps
      $0.allApps = caller.apps == nil
    }
  }

  /// The error of a check for a caller of some apps: it can name other apps, files and variables.
  private static let hiddenProblem = "the check failed; the log of the service has the cause"

  /// Returns the state of the caller's apps. Only a caller who may access all apps sees the store, the certificates, the
  /// replicas and the causes of failed checks, because they are not of one app.
  func getStatus(_ request: GetStatusRequest, _ call: CallContext) async throws(Status) -> GetStatusResponse {
    let catalog = context.catalog.value
    let apps = CallScope.apps(of: catalog.appIDs).compactMap { catalog[$0] }
    let seesAllApps = CallScope.current?.caller.map { $0.apps == nil } ?? false
    var response = try await storedStatus(of: apps, withStore: seesAllApps, call)
    for index in response.apps.indices { addAppleClient(to: &response.apps[index]) }
    if seesAllApps { await addProcess(to: &response) }
    response.version = context.status.information.version
    response.ready = context.status.monitor.isReady
    response.checks = context.status.monitor.results.map { result in
      .with {
        $0.name = result.dependency.rawValue
        $0.error = result.problem.map { seesAllApps ? $0 : Self.hiddenProblem } ?? ""
      }
    }
    response.startedAt = GoogleProtobuf.Timestamp(context.status.information.startedAt)
    response.time = GoogleProtobuf.Timestamp(context.now(in: .sandbox))
    return response
  }

  /// The part of the status that the store has: each app and environment, and the store itself.
  private func storedStatus(
    of apps: [AppDefinition], withStore: Bool, _ call: CallContext
  ) async throws(Status) -> GetStatusResponse {
    let free = context.status.monitor.freeBytes()
    return try await context.readExpensively(call) { [context] reader throws(StoreError) in
      var response = GetStatusResponse()
      let open = try reader.openConsumptionRequests()
      for app in apps {
        for environment in app.environments {
          response.apps.append(
            try AppStatus(app, environment, at: context.now(in: environment), open, reader))
        }
      }
      guard withStore else { return response }
      response.store = .with {
        $0.freeBytes = free
      }
      response.store?.sizeBytes = try reader.size()
      response.store?.lastEvidenceId = try reader.lastEvidence()
      return response
    }
  }

  /// Adds the state of Apple's rate limits, if the app has a client.
  private func addAppleClient(to status: inout AppStatus) {
    guard let environment = AppStore.Environment(status.environment),
      let client = try? context.apple.lookup.client(for: status.app, in: environment)
    else { return }
    status.hasInAppPurchaseKey = true
    status.appleRateLimits = client.rateLimitLevels.sorted { $0.key.rawValue < $1.key.rawValue }
      .map(AppleRateLimit.init)
  }

  /// Adds the parts that are about the process and not about an app.
  private func addProcess(to response: inout GetStatusResponse) async {
    response.certificates = context.status.information.certificates().sorted { $0.endsAt < $1.endsAt }.map {
      CertificateStatus($0)
    }
    guard let replication = context.store.replication else { return }
    // Without the other replicas, the rest of the status is as true.
    response.replica = ReplicaStatus(replication, (try? await replication.replicas()) ?? [])
  }

  /// Returns the configuration without secrets. A caller with some apps sees the sections of these apps only.
  func getConfiguration(
    _ request: GetConfigurationRequest, _ call: CallContext
  ) async throws(Status) -> GetConfigurationResponse {
    let configuration = context.status.information.configuration
    var (document, pending) = (configuration.document, configuration.pendingRestart)
    if let visible = CallScope.current?.caller?.apps {
      var apps: JSONObject = [:]
      for (id, app) in document["apps"]?.objectValue ?? [:] where visible.contains(id) { apps[id] = app }
      document = ["apps": .object(apps)]
      pending = pending.filter { setting in
        let app = setting.prefix(upTo: setting.lastIndex(of: ".") ?? setting.startIndex)
        return visible.contains { "apps.\($0)" == app }
      }
    }
    return .with {
      $0.configurationJson = String(decoding: JSONValue.object(document).serialized(), as: UTF8.self)
      $0.path = configuration.path ?? ""
      $0.loadedAt = GoogleProtobuf.Timestamp(configuration.loadedAt)
      $0.pendingRestart = pending
    }
  }
}

extension CertificateStatus {
  fileprivate init(_ certificate: ServiceInformation.CertificateEnd) {
    self.init()
    use = certificate.use
    endsAt = GoogleProtobuf.Timestamp(certificate.endsAt)
  }
}

extension ReplicaStatus {
  /// The replica that answers, all replicas of the database, and the leader; `seen` is empty if the database does not
  /// answer.
  fileprivate init(_ replication: any Replication, _ seen: [ReplicaProgress]) {
    self.init()
    name = replication.name.name
    leader = replication.role.isLeader
    replicas = seen.map { replica in
      .with {
        ($0.name, $0.version, $0.commitsBehind) = (replica.name, replica.program, replica.commitsBehind)
        $0.lag = GoogleProtobuf.Duration(milliseconds: replica.lagMilliseconds)
      }
    }
    guard let current = replication.leader else { return }
    leaderName = current.replica.name
    leaderAddress = current.replica.address
    epoch = current.epoch
  }
}

extension AppStatus {
  /// The number of latest notifications whose delays are measured.
  private static let maxDelays = 200

  /// The state of one app and environment. `open` has the open consumption requests of all apps, because one query
  /// counts them; `now` is by the clock of the environment.
  fileprivate init(
    _ app: AppDefinition, _ environment: AppStore.Environment, at now: Instant,
    _ open: [OpenDuties], _ reader: any StoreSnapshot
  ) throws(StoreError) {
    let watermark = try reader.deliveryWatermark(of: app.id, in: environment)
    let arrivals = [watermark?.lastDelivery, try reader.lastNotification(of: app.id, in: environment)]
    self.init()
    self.app = app.id
    self.environment = Wire.Environment(environment)
    lastNotificationAt = arrivals.compactMap(\.self).max().map(GoogleProtobuf.Timestamp.init)
    typicalNotificationInterval = watermark?.typicalInterval.map(GoogleProtobuf.Duration.init(milliseconds:))
    notificationDelay = NotificationDelay(
      try reader.notificationDelays(of: app.id, in: environment, limit: Self.maxDelays))
    completeUntil = (watermark?.completeUntil).map(GoogleProtobuf.Timestamp.init)
    overduePolls = try reader.pollBacklog(of: app.id, in: environment, by: now)
    nextPollAt = try reader.nextPoll(of: app.id, in: environment).map(GoogleProtobuf.Timestamp.init)
    openConsumptionRequests =
      open.first { $0.appID == app.id && $0.environment == environment }?.count ?? 0
    catalogFingerprint = app.fingerprintText
    lastSequence = try reader.lastSequence(ofApp: app.id)
  }
}

extension NotificationDelay {
  /// Of times between signature and arrival, in milliseconds; `nil` without one. Negative ones count as 0, because clocks
  /// may differ.
  fileprivate init?(_ milliseconds: [Int64]) {
    let sorted = milliseconds.map { max(0, $0) }.sorted()
    guard let longest = sorted.last else { return nil }
    self.init()
    count = Int32(sorted.count)
    median = GoogleProtobuf.Duration(milliseconds: sorted[(sorted.count - 1) / 2])
    self.longest = GoogleProtobuf.Duration(milliseconds: longest)
  }
}

extension AppleRateLimit {
  fileprivate init(_ endpoint: Endpoint, _ level: RateLimitLevel) {
    self.init()
    self.endpoint = endpoint.rawValue
    availableCalls = Int32(level.availableCalls.rounded(.down))
    callsPerSecond = level.callsPerSecond
    waitingCalls = Int32(clamping: level.waitingCalls)
  }
}

extension GoogleProtobuf.Duration {
  fileprivate init(milliseconds: Int64) {
    self.init()
    seconds = milliseconds / 1_000
    nanos = Int32(milliseconds % 1_000) * 1_000_000
  }
}
