import ClientCore
import Foundation
import UnixIO
import WireProtocol

// What somebody waits for.
extension CenterState {
    mutating func add(_ request: Request, _ token: UInt64, _ effects: inout Effects) {
        requests[token] = request
        guard isOpen else {
            finish(token, .failure(.closed), &effects)
            return
        }
        if case .refused(let reason) = link {
            finish(token, .failure(reason), &effects)
            return
        }
        if case .send(let post) = request.kind {
            if let error = refusal(of: post, isAnswered: true) ?? (hasRoom ? nil : .outboxFull) {
                finish(token, .failure(error), &effects)
                return
            }
        }
        ask(token, at: MonotonicClock.now())
    }

    mutating func ask(_ token: UInt64, at now: UInt64) {
        guard let request = requests[token] else { return }
        let id: RequestID? =
            switch request.kind {
            case .send(let post): session.send(post, at: now)
            case .flush: session.ping()
            case .awaitObservers(let name, let object, let count):
                session.awaitObservers(of: name, object: object, count: count)
            }
        if let id { asked[id] = token }
    }

    mutating func finish(_ token: UInt64, _ result: Request.Result, _ effects: inout Effects) {
        guard let request = requests.removeValue(forKey: token) else { return }
        effects.then { request.continuation.resume(returning: result) }
    }

    mutating func lost(_ id: RequestID, _ effects: inout Effects) {
        if let name = watchedPosts.removeValue(forKey: id) {
            tell(.postFailed(Notification.Name(name), .outcomeUnknown), &effects)
        }
        guard let token = asked.removeValue(forKey: id), let request = requests[token] else { return }
        switch request.kind {
        case .send, .flush: finish(token, .failure(.outcomeUnknown), &effects)
        case .awaitObservers: break
        }
    }

    mutating func answered(_ id: RequestID, _ answer: Answer, _ effects: inout Effects) {
        let result: Request.Result
        switch answer {
        case .ok(let ok):
            result = .success(.init(seq: ok.seq ?? 0, receivers: ok.receivers ?? 0, brokerInstance: instance))
        case .status: result = .success(.init(seq: 0, receivers: 0, brokerInstance: instance))
        case .refused(let refusal): result = .failure(DistributedNotificationError(refusal))
        }
        if let name = watchedPosts.removeValue(forKey: id), case .failure(let error) = result {
            tell(.postFailed(Notification.Name(name), error), &effects)
        }
        if let token = asked.removeValue(forKey: id) {
            finish(token, result, &effects)
        }
    }
}
