internal import Essentials
internal import Gateway
internal import Hummingbird
internal import NIOCore

/// A command's body: one JSON object, such as `{"bpm":128.5}`.
struct CommandBody {
    private let scalars: [String: Scalar]

    /// Reads a body with these keys and no others; the caller checks for missing ones.
    ///
    /// If only one of the keys may be given, `isOne` says so to whoever sends no object; ``only(of:)`` checks it.
    init(_ keys: [String], isOne: Bool = false, in body: ByteBuffer) throws(RequestError) {
        guard let object = try? JSON.value([String: Scalar].self, from: body.readableBytesView) else {
            throw .notJSON(expecting: keys, isOne: isOne)
        }
        if let stranger = object.keys.filter({ !keys.contains($0) }).min() {
            let known =
                switch keys.count {
                case 0: "this request takes no keys"
                case 1: "the key here is \(keys[0])"
                default: "the keys here are \(keys.joined(separator: ", "))"
                }
            throw .badValue("\(stranger): unknown; \(known)")
        }
        scalars = object
    }

    /// Reads a body that may be missing, as may its keys.
    init(optional keys: [String], in body: ByteBuffer) throws(RequestError) {
        try self.init(keys, in: body.readableBytes > 0 ? body : ByteBuffer(string: "{}"))
    }

    /// The one of several keys that is given; the first if none is.
    func only(of keys: [String]) throws(RequestError) -> String {
        let given = keys.filter { scalars[$0] != nil }
        guard given.count < 2 else { throw .badValue("\(given.joined(separator: ", ")): only one of these") }
        return given.first ?? keys[0]
    }

    /// The value of a key, even if it is missing.
    func required(_ key: String) -> CommandValue { CommandValue(key: key, scalar: scalars[key] ?? .other) }

    /// The value of a key; nil if it is missing.
    func optional(_ key: String) -> CommandValue? { scalars[key].map { CommandValue(key: key, scalar: $0) } }
}

/// A value in a command's body, with its name for error messages.
struct CommandValue {
    fileprivate let key: String
    fileprivate let scalar: Scalar

    func boolean() throws(RequestError) -> Bool {
        guard case .boolean(let value) = scalar else { throw .badValue("\(key): true or false") }
        return value
    }

    func integer(in range: ClosedRange<Int>) throws(RequestError) -> Int {
        guard case .number(let value) = scalar, let whole = Int(exactly: value), range.contains(whole) else {
            throw .badValue("\(key): a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    func text() throws(RequestError) -> String {
        guard case .text(let value) = scalar else { throw .badValue("\(key): a text") }
        return value
    }

    /// One of several words.
    func choice<Value>(among choices: KeyValuePairs<String, Value>) throws(RequestError) -> Value {
        guard case .text(let text) = scalar, let choice = choices.first(where: { $0.key == text }) else {
            throw .badValue("\(key): \(choices.map { "\"\($0.key)\"" }.joined(separator: " or "))")
        }
        return choice.value
    }

    /// Two numbers, the second at least twice the first.
    func octave(in range: ClosedRange<Double>) throws(RequestError) -> ClosedRange<Double> {
        guard case .numbers(let values) = scalar, values.count == 2, values.allSatisfy(range.contains),
            values[1] >= 2 * values[0]
        else {
            throw .badValue(
                "\(key): two tempos from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound)), "
                    + "the second at least twice the first, such as [40,300]")
        }
        return values[0]...values[1]
    }

    func number(in range: ClosedRange<Double>) throws(RequestError) -> Double {
        guard case .number(let value) = scalar, range.contains(value) else {
            throw .badValue("\(key): \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))")
        }
        return value
    }

    /// One of two numbers.
    func number(among first: Double, _ second: Double) throws(RequestError) -> Double {
        guard case .number(let value) = scalar, value == first || value == second else {
            throw .badValue("\(key): \(Self.text(first)) or \(Self.text(second))")
        }
        return value
    }

    /// A limit as JSON would write it.
    private static func text(_ bound: Double) -> String {
        let text = "\(bound)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension CommandValue {
    func followChoice() throws(RequestError) -> FollowChoice {
        guard case .text(let text) = scalar else { throw .badValue("\(key): auto, off, or a port such as TR-8S") }
        do {
            return try FollowChoice(text)
        } catch {
            throw .badValue("\(key): \(error)")
        }
    }
}

fileprivate enum Scalar: Decodable {
    case boolean(Bool)
    case number(Double)
    case text(String)
    case numbers([Double])
    case other

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let values = try? container.decode([Double].self) {
            self = .numbers(values)
        } else {
            self = .other
        }
    }
}
