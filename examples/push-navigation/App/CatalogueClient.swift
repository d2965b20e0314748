import DistributedNotifications
import Foundation
import PushMessages

/// Asks the catalogue process, by notifications: first it observes the answer, then it asks.
struct CatalogueClient {
    private let center = DistributedNotificationCenter.default()

    func product(_ id: String) async throws -> Product? {
        let number = UUID().uuidString
        let answers = try await center.messages(of: ProductAnswer.self, object: number).confirmed()
        center.post(ProductQuestion(number: number, id: id))
        for await answer in answers { return answer.product }
        throw CancellationError()
    }
}
