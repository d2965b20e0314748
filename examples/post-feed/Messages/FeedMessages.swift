public import DistributedNotifications
public import Foundation

public struct Post: Codable, Sendable {
    public var title: String
    public var body: String

    public init(title: String, body: String) {
        self.title = title
        self.body = body
    }
}

public struct PostCreated: DistributedMessage {
    public static let name = Notification.Name("PostCreated")
    public var post: Post

    public init(_ post: Post) {
        self.post = post
    }
}

/// A user has logged in, or, if there is none, out.
public struct LoginChanged: DistributedMessage {
    public static let name = Notification.Name("LoginChanged")
    public var user: String?

    public init(user: String?) {
        self.user = user
    }
}
