public import DistributedNotifications
public import Foundation

extension Notification.Name {
    /// A push: its userInfo is the payload.
    public static let push = Notification.Name("Push")
}

public struct Product: Codable, Hashable, Sendable {
    public var id: String
    public var name: String

    public init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

/// Asks the catalogue. The answer comes with the question's number as its object, so that only who asked observes it.
public struct ProductQuestion: DistributedMessage {
    public static let name = Notification.Name("ProductQuestion")
    public var number: String
    public var id: String

    public init(number: String, id: String) {
        self.number = number
        self.id = id
    }
}

public struct ProductAnswer: DistributedMessage {
    public static let name = Notification.Name("ProductAnswer")
    public var product: Product?

    public init(product: Product?) {
        self.product = product
    }
}
