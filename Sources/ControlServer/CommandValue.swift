internal import Foundation
internal import Hummingbird
internal import NIOCore

/// The one value of a command's body, such as 128.5 in `{"bpm":128.5}`.
struct CommandValue {
    private let key: String
    private let scalar: Scalar

    /// Reads a body that is one JSON object with this key and no other.
    init(of key: String, in body: ByteBuffer) throws(Refusal) {
        guard let object = try? JSONDecoder().decode([String: Scalar].self, from: Data(body.readableBytesView)) else {
            throw .notJSON(expecting: key)
        }
        if let stranger = object.keys.filter({ $0 != key }).min() {
            throw .badValue("\(stranger): unknown; the key here is \(key)")
        }
        self.key = key
        scalar = object[key] ?? .other
    }

    func boolean() throws(Refusal) -> Bool {
        guard case .boolean(let value) = scalar else { throw .badValue("\(key): true or false") }
        return value
    }

    func number(in range: ClosedRange<Double>) throws(Refusal) -> Double {
        guard case .number(let value) = scalar, range.contains(value) else {
            throw .badValue("\(key): \(range.lowerBound.formatted()) to \(range.upperBound.formatted())")
        }
        return value
    }
}

private enum Scalar: Decodable {
    case boolean(Bool)
    case number(Double)
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else {
            self = .other
        }
    }
}
