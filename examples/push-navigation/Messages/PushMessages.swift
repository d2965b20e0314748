import DistributedNotifications
import Foundation

extension Notification.Name {
    /// A push: its userInfo is the payload.
    package static let push = Notification.Name("Push")
}

package struct Product: Codable, Hashable, Sendable {
    package var id: String
    package var name: String

    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }
}

/// Asks the catalogue. The answer comes with the question's number as its object, so that only who asked observes it.
package struct ProductQuestion: DistributedMessage {
    package static let name = Notification.Name("ProductQuestion")
    package var number: String
    package var id: String

    package init(number: String, id: String) {
        self.number = number
        self.id = id
    }
}

package struct ProductAnswer: DistributedMessage {
    package static let name = Notification.Name("ProductAnswer")
    package var product: Product?

    package init(product: Product?) {
        self.product = product
    }
}
