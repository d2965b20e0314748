import Console
import DistributedNotifications
import PushMessages

/// The backend: answers which product has an id.
@main struct Catalogue {
    static let products = ["42": "Lamp", "43": "Chair"]

    static func main() async throws {
        let center = DistributedNotificationCenter.default()
        let questions = try await center.messages(of: ProductQuestion.self).confirmed()
        Console.show("Catalogue of \(products.count) products")
        for await question in questions {
            let product = products[question.id].map { Product(id: question.id, name: $0) }
            center.post(ProductAnswer(product: product), object: question.number)
        }
    }
}
