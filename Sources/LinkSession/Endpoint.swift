/// An IP address without a scope.
///
/// The order is IPv4 before IPv6, then by number.
///
/// ```swift
/// assert(IPAddress.v4(192, 168, 7, 42).description == "192.168.7.42")
/// assert(IPAddress.v6(high: 0xFE80 << 48, low: 1).description == "fe80::1")
/// ```
public enum IPAddress: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Four bytes, the first the most significant.
    case v4(UInt32)
    /// Sixteen bytes, the first of `high` the most significant.
    case v6(high: UInt64, low: UInt64)

    /// An IPv4 address in the usual notation, `v4(192, 168, 7, 42)`.
    public static func v4(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) -> IPAddress {
        .v4(UInt32(first) << 24 | UInt32(second) << 16 | UInt32(third) << 8 | UInt32(fourth))
    }

    public var description: String {
        switch self {
        case .v4(let bits):
            "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
        case .v6(let high, let low):
            Self.description(of: [high >> 48, high >> 32, high >> 16, high, low >> 48, low >> 32, low >> 16, low])
        }
    }

    /// Eight groups in the usual notation: of two or more zeros in a row, the first longest row is left out.
    private static func description(of groups: [UInt64]) -> String {
        let words = groups.map { String($0 & 0xffff, radix: 16) }
        var zeros = 0..<0
        for start in words.indices {
            let end = words[start...].firstIndex { $0 != "0" } ?? words.endIndex
            if end - start > max(1, zeros.count) { zeros = start..<end }
        }
        guard !zeros.isEmpty else { return words.joined(separator: ":") }
        return words[..<zeros.lowerBound].joined(separator: ":") + "::"
            + words[zeros.upperBound...].joined(separator: ":")
    }

    /// Whether it can be a single host: not unspecified, no group, no broadcast.
    var isUnicast: Bool {
        switch self {
        case .v4(let bits): bits >> 24 != 0 && bits >> 28 < 0xe
        case .v6(let high, let low): high >> 56 != 0xff && (high | low) != 0
        }
    }

    /// Whether a socket of one address can send to the other.
    func isSameFamily(as other: IPAddress) -> Bool {
        switch (self, other) {
        case (.v4, .v4), (.v6, .v6): true
        case (.v4, .v6), (.v6, .v4): false
        }
    }
}

/// An address and a UDP port.
///
/// ```swift
/// let endpoint = Endpoint(address: .v4(192, 168, 7, 42), port: 20_808)
/// assert(endpoint.description == "192.168.7.42:20808")
/// ```
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    public var address: IPAddress
    public var port: UInt16

    public init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    public var description: String {
        switch address {
        case .v4: "\(address):\(port)"
        case .v6: "[\(address)]:\(port)"
        }
    }
}
