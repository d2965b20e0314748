/// What a payload of one kind carries: declared once, decoded before a route is looked for.
///
/// ```swift
/// struct ProductDetails: RoutePayload {
///     static let kind = "productDetails"
///     var id: String
///     enum CodingKeys: String, CodingKey { case id = "Id" }
/// }
/// ```
public protocol RoutePayload: Decodable, Sendable {
    /// The kind that such payloads name.
    static var kind: String { get }
}

/// Why a payload led nowhere.
public struct RoutingError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Reason: Sendable {
        /// The payload does not name its kind.
        case noKind
        /// No route is registered for its kind.
        case unknownKind
        /// A member is missing, or of another type than it should be.
        case invalidMember(path: String)
        /// The look-up found nothing.
        case notFound
        /// The look-up failed.
        case lookUpFailed(any Error)
        /// The look-up took too long.
        case timedOut
        /// It waited too long for a navigator.
        case expired
        /// Too many payloads waited for a navigator.
        case tooManyParked
    }

    /// The kind that the payload names, if it does.
    public var kind: String?
    /// What went wrong.
    public var reason: Reason
    /// The payload.
    public var payload: UserInfo

    /// Makes an error.
    public init(kind: String?, reason: Reason, payload: UserInfo) {
        self.kind = kind
        self.reason = reason
        self.payload = payload
    }

    /// What went wrong, as a text.
    public var description: String {
        let what =
            switch reason {
            case .noKind: "it names no kind"
            case .unknownKind: "no route is registered for its kind"
            case .invalidMember(let path): "\(path) is missing or of another type"
            case .notFound: "nothing was found"
            case .lookUpFailed(let error): "the look-up failed: \(error)"
            case .timedOut: "the look-up took too long"
            case .expired: "it waited too long for a navigator"
            case .tooManyParked: "too many waited for a navigator"
            }
        return "no route for a payload of kind \(kind ?? "(none)"): \(what)"
    }
}

/// Finds the route for a payload by its kind. A value: it knows no navigator, and can be tested alone.
///
/// A payload names its kind, as in `{"NotificationType": "productDetails", "Id": "42"}`.
public struct RouteFinder<Route: Sendable>: Sendable {
    private let kindKey: String
    private var routes: [String: @Sendable (UserInfo) async throws -> Route?] = [:]

    /// A finder without routes.
    ///
    /// - Parameter kindKey: The member that names a payload's kind.
    public init(kindKey: String = "NotificationType") {
        self.kindKey = kindKey
    }

    /// Says how to find the route of payloads of a kind; a second registration replaces the first.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - find: Finds the route, or nil. What it throws becomes `lookUpFailed`; what ``UserInfo/value(for:as:)`` and
    ///     ``UserInfo/decode(_:)`` throw `invalidMember`.
    public mutating func register(
        _ kind: String, _ find: @escaping @Sendable (UserInfo) async throws -> Route?
    ) {
        routes[kind] = find
    }

    /// Says how to find the route of payloads of a declared type.
    ///
    /// - Parameters:
    ///   - payload: The type; a payload that does not decode as it is an `invalidMember`.
    ///   - find: Finds the route, or nil. What it throws becomes `lookUpFailed`.
    public mutating func register<P: RoutePayload>(
        _ payload: P.Type, _ find: @escaping @Sendable (P) async throws -> Route?
    ) {
        routes[P.kind] = { try await find($0.decode(P.self)) }
    }

    /// The route for a payload. It has no time limit of its own.
    ///
    /// - Throws: The reason why there is none.
    public func route(for payload: UserInfo) async throws(RoutingError) -> Route {
        guard let named = payload[kindKey] else {
            throw RoutingError(kind: nil, reason: .noKind, payload: payload)
        }
        guard case .string(let kind) = named else {
            throw RoutingError(kind: nil, reason: .invalidMember(path: kindKey), payload: payload)
        }
        guard let find = routes[kind] else {
            throw RoutingError(kind: kind, reason: .unknownKind, payload: payload)
        }
        let route: Route?
        do {
            route = try await find(payload)
        } catch {
            throw RoutingError(kind: kind, reason: Self.reason(of: error), payload: payload)
        }
        guard let route else { throw RoutingError(kind: kind, reason: .notFound, payload: payload) }
        return route
    }

    /// The kind that a payload names.
    func kind(of payload: UserInfo) -> String? {
        payload[kindKey]
    }

    private static func reason(of error: any Error) -> RoutingError.Reason {
        if let error = error as? DistributedNotificationError, error.code == .undecodable,
            let path = error.keyPath
        {
            return .invalidMember(path: path)
        }
        return .lookUpFailed(error)
    }
}
