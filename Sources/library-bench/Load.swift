import DistributedNotifications
import Foundation

/// The same two members, once as a userInfo and once as a Codable message.
struct Reading: DistributedMessage {
    static let name = Notification.Name("LibraryBench.Reading")
    var sensor: String
    var number: Int
}

enum Load: String, CaseIterable {
    case userInfo, message

    var title: String {
        switch self {
        case .userInfo: "a userInfo of two members"
        case .message: "a Codable message of two members"
        }
    }

    /// Posts numbered from 0, as fast as it goes.
    func postMany(_ count: Int, through center: DistributedNotificationCenter) {
        switch self {
        case .userInfo:
            for number in 0..<count {
                center.post(name: Reading.name, userInfo: ["sensor": "boiler", "number": number])
            }
        case .message:
            for number in 0..<count { center.post(Reading(sensor: "boiler", number: number)) }
        }
    }

    /// Makes the same post again and again, of what was made ready before.
    func repeatPost(_ count: Int, through center: DistributedNotificationCenter) {
        switch self {
        case .userInfo:
            let userInfo: UserInfo = ["sensor": "boiler", "number": 1]
            for _ in 0..<count { center.post(name: Reading.name, userInfo: userInfo) }
        case .message:
            let reading = Reading(sensor: "boiler", number: 1)
            for _ in 0..<count { center.post(reading) }
        }
    }
}
