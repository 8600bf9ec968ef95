package import AppStore
package import Callers
package import ContractCalls
package import HTTP
internal import Markup
internal import Pages
internal import Platform
internal import RPC
internal import Wire

/// Web pages for the people who work with customers, on a separate listener.
///
/// A page calls the methods of the contract as any other client does, in process: it can do nothing that the contract
/// cannot. Pages work without scripts, and contain no script and no style themselves.
package struct Console: Sendable {
  /// The pages of one person in a second, on average; those of a minute may be loaded at once.
  package static let pagesPerSecond: Int64 = 5

  /// The largest form that signs in.
  private static let maxSignInBytes = 1 << 16

  private let calls: any ContractCalls
  private let access: ConsoleAccess
  private let hosts: OriginPolicy
  private let pages: AddressLimiter
  private let proxyTokens: ProxyTokens
  private let isSecure: Bool
  private let links: OperatorLinks
  private let now: @Sendable () -> Instant
  private let assets = Assets()
  private let cookies: SessionCookies
  private let tokens = FormTokens()
  private let performed = PerformedForms()
  private let work = WorkCount()
  private let reports = ReportAnswers()
  private let live = LivePages()
  private let liveTime: Duration

  /// - Parameters:
  ///   - calls: the methods of the contract.
  ///   - access: how people sign in.
  ///   - hosts: the host names of the listener.
  ///   - pages: limits the pages of each person.
  ///   - invalidTokens: counts the invalid tokens of each network, if a proxy signs people in.
  ///   - isSecure: whether the listener has TLS.
  ///   - links: the operator's other tools.
  ///   - liveTime: how long a page is live at most.
  ///   - now: the system's clock.
  package init(
    calls: any ContractCalls, access: ConsoleAccess, hosts: OriginPolicy, pages: AddressLimiter,
    invalidTokens: AddressLimiter, isSecure: Bool,
    links: OperatorLinks = OperatorLinks(), liveTime: Duration = .seconds(6 * 3_600),
    now: @escaping @Sendable () -> Instant
  ) {
    self.calls = calls
    self.access = access
    self.hosts = hosts
    self.pages = pages
    proxyTokens = ProxyTokens(invalid: invalidTokens)
    self.isSecure = isSecure
    self.links = links
    self.liveTime = liveTime
    self.now = now
    cookies = SessionCookies(isSecure: isSecure)
  }

  /// Responds to each request of the listener. Whatever the result, the response has the security headers. The transport
  /// leaves out the body of a response to HEAD.
  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    var response = await answer(request)
    SecurityHeaders.add(to: &response, isSecure: isSecure)
    return response
  }

  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    // The host comes first: a page under a rebound name reads nothing.
    if let refusal = hosts.refusalOfHost(request) { return refusal }
    guard ["GET", "HEAD", "POST"].contains(request.method) else {
      return .methodNotAllowed("GET, HEAD, POST")
    }
    let path = Link.segments(ofPath: request.path)
    if path.count == 2, path[0] == "assets" { return assets.respond(path[1], to: request) }
    let isForm = request.method == "POST"
    if let refusal = isForm ? refusalOfForm(request) : request.refusalOfEmbedding { return refusal }
    if case .oneTimeLink(let links) = access, request.path == OneTimeLinks.path {
      return signIn(request, links)
    }
    switch person(of: request) {
    case .failure(let problem): return signInPage(problem, request)
    case .success(let person): return await answer(request, path, person)
    }
  }

  /// Signing in takes a code and a name. The other forms are decoded for people who have signed in only, and may have a
  /// list of 10,000 customers, so that their limit is that of the transport.
  private func refusalOfForm(_ request: HTTPRequest) -> HTTPResponse? {
    guard request.path == OneTimeLinks.path else { return hosts.refusalOfForm(request, maxBytes: nil) }
    return hosts.refusalOfForm(request, maxBytes: Self.maxSignInBytes) ?? request.refusalOfFormEncoding
  }

  private func answer(_ request: HTTPRequest, _ path: [String], _ person: Person) async -> HTTPResponse {
    guard pages.delay(of: person.key) == nil else {
      return Frame.plain(
        429, title: Text.tooManyPages, body: "<p>\(Text.tooManyPagesHint)</p>", assets: assets)
    }
    if let refusal = request.refusalOfEncoding ?? request.refusalOfFormEncoding { return refusal }
    let visit = Visit(
      person: person, request: request, query: Query(request.query), calls: calls, tokens: tokens,
      performed: performed, reports: reports, links: links, live: live, liveTime: liveTime,
      renewal: renewal(of: request), now: now())
    if path == ["session", "end"], request.method == "POST" { return signOut() }
    let outcome: Outcome
    do throws(Status) {
      outcome = try await request.method == "POST" ? Router.submit(path, visit) : Router.page(path, visit)
    } catch {
      outcome = .page(.error(error, in: Router.scope(of: path)))
    }
    switch outcome {
    case .page(var page):
      if let scope = page.scope { page.openWork = await work.count(in: scope, visit) }
      return Frame.document(page, visit, assets: assets).compressed(for: request)
    case .redirect(let link): return .redirect(to: link)
    case .response(let response): return response.compressed(for: request)
    }
  }
}

// Signing in.
extension Console {
  /// The reason for which a request has no person.
  private struct SignInProblem: Error {
    let message: String
    var status = 401
  }

  private func person(of request: HTTPRequest) -> Result<Person, SignInProblem> {
    switch access {
    case .oneTimeLink:
      guard let name = cookies.name(in: request.header("cookie"), at: now()) else {
        return .failure(SignInProblem(message: Text.needsLink))
      }
      return .success(Person(name: name, caller: .console))
    case .identityHeader(let field, let callers):
      do throws(CallerError) {
        return .success(try proxyTokens.person(of: request, field, callers.value, at: now))
      } catch {
        if case .tooManyBadTokens = error {
          return .failure(SignInProblem(message: error.description, status: 429))
        }
        return .failure(SignInProblem(message: error.description))
      }
    }
  }

  /// Looks the person of the request up again, under the roles that are configured then. As with other streams, a token
  /// that expires does not end a page that is live.
  private func renewal(of request: HTTPRequest) -> CallerRenewal? {
    guard case .identityHeader(let field, let callers) = access else { return nil }
    let instant = now()
    return CallerRenewal(callers) {
      try? Person(header: request.headers, field, callers.value, at: { instant }).caller
    }
  }

  /// The page without a valid sign-in.
  ///
  /// Browsers send no strict cookie with the first request after a click in another site. That request gets a page that
  /// loads the same address again, from here.
  private func signInPage(_ problem: SignInProblem, _ request: HTTPRequest) -> HTTPResponse {
    let isFromElsewhere = request.method == "GET" && request.header("sec-fetch-site") == "cross-site"
    let head: Markup = isFromElsewhere ? "<meta http-equiv=\"refresh\" content=\"0\">" : ""
    return Frame.plain(
      isFromElsewhere ? 200 : problem.status, title: Text.signInTitle, body: "<p>\(problem.message)</p>",
      assets: assets,
      head: head)
  }

  /// The page of a one-time link has a form, so that a preview of the link does not use it up.
  private func signIn(_ request: HTTPRequest, _ links: OneTimeLinks) -> HTTPResponse {
    let form = Query(request.method == "POST" ? String(decoding: request.body, as: UTF8.self) : request.query)
    let code = form["code"] ?? ""
    guard request.method == "POST" else {
      return Frame.plain(200, title: Text.signInTitle, body: SignInForm.body(code: code), assets: assets)
    }
    guard let name = SessionCookies.name(form["name"] ?? "") else {
      return Frame.plain(
        400, title: Text.signInTitle, body: SignInForm.body(code: code, problem: Text.nameNeeded),
        assets: assets)
    }
    guard links.use(code, at: now()) else {
      return Frame.plain(
        403, title: Text.signInTitle, body: "<p>\(Text.linkUsed)</p><p>\(Text.needsLink)</p>", assets: assets)
    }
    var response = HTTPResponse.redirect(to: Link([]))
    response.headers.append(name: "set-cookie", value: cookies.issue(to: name, at: now()))
    return response
  }

  private func signOut() -> HTTPResponse {
    var response = HTTPResponse.redirect(to: Link([]))
    if case .oneTimeLink = access { response.headers.append(name: "set-cookie", value: cookies.removal) }
    return response
  }
}
