public import Observation

/// A path of routes, the last one in front. Observable, as a user interface wants it.
@MainActor @Observable public final class Navigator<Route: Sendable> {
    /// The routes from the first to the one in front.
    public private(set) var path: [Route] = []

    /// A navigator at its root.
    public init() {}

    /// Goes to a route.
    public func push(_ route: Route) {
        path.append(route)
    }

    /// Goes back.
    ///
    /// - Returns: The route that was in front; nil at the root.
    @discardableResult
    public func pop() -> Route? {
        path.popLast()
    }

    /// Goes back to the root.
    public func popToRoot() {
        path.removeAll()
    }
}
