import DistributedNotifications
import Foundation

package struct Post: Codable, Sendable {
    package var title: String
    package var body: String

    package init(title: String, body: String) {
        self.title = title
        self.body = body
    }
}

package struct PostCreated: DistributedMessage {
    package static let name = Notification.Name("PostCreated")
    package var post: Post

    package init(_ post: Post) {
        self.post = post
    }
}

/// A user has logged in, or, if there is none, out.
package struct LoginChanged: DistributedMessage {
    package static let name = Notification.Name("LoginChanged")
    package var user: String?

    package init(user: String?) {
        self.user = user
    }
}
