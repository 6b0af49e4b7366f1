/// Why a datagram, or the relevant part of it, was rejected.
package enum WireError: Error, Hashable, Sendable {
    /// It ends inside its header or an entry.
    case truncated
    /// It belongs to another protocol, or another version.
    case foreignMarker
    /// It belongs to an unknown session group.
    case foreignGroup
    /// Its message type means nothing here.
    case unknownType
    /// An entry of fixed size has another size.
    case wrongSize
    /// A required entry is missing.
    case missingEntry
    /// A ping asks to have too much echoed.
    case tooLong
}

/// Numbers that all peers must agree on.
package enum Wire {
    /// Bytes of a datagram that are read; the rest is lost.
    package static let receiveLimit = 512
    /// `_asdp_v` and the version byte.
    static let discoveryMarker: UInt64 = 0x5f61_7364_705f_7601
    /// `_link_v` and the version byte.
    static let measurementMarker: UInt64 = 0x5f6c_696e_6b5f_7601
    /// Most bytes of a ping's payload that are echoed.
    static let pingLimit = 32
}

/// The key of a payload entry: four characters, the first the most significant.
enum EntryKey {
    static let timeline: UInt32 = 0x746d_6c6e  // tmln
    static let session: UInt32 = 0x7365_7373  // sess
    static let startStop: UInt32 = 0x7374_7374  // stst
    static let measurementEndpoint4: UInt32 = 0x6d65_7034  // mep4
    static let measurementEndpoint6: UInt32 = 0x6d65_7036  // mep6
    static let hostTime: UInt32 = 0x5f5f_6874  // __ht
    static let ghostTime: UInt32 = 0x5f5f_6774  // __gt
    static let previousGhostTime: UInt32 = 0x5f70_6774  // _pgt
}

/// Reads big-endian numbers from the front of a datagram; every read checks the remaining length.
struct WireReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }
    var remaining: ArraySlice<UInt8> { rest }

    mutating func integer<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(WireError) -> Number {
        var number: Number = 0
        for byte in try bytes(Number.bitWidth / 8) { number = number << 8 | Number(truncatingIfNeeded: byte) }
        return number
    }

    mutating func bytes(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw .truncated }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// The next entry's key and body.
    mutating func entry() throws(WireError) -> (key: UInt32, body: ArraySlice<UInt8>) {
        let key = try integer(UInt32.self)
        // On a 32-bit machine the length may be too large for an Int.
        guard let length = Int(exactly: try integer(UInt32.self)) else { throw .truncated }
        return (key, try bytes(length))
    }
}

/// A body, checked for the size that its key requires.
func body(_ bytes: ArraySlice<UInt8>, ofSize size: Int) throws(WireError) -> WireReader {
    guard bytes.count == size else { throw .wrongSize }
    return WireReader(bytes)
}

/// Writes big-endian numbers.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(128) }

    mutating func write<Number: FixedWidthInteger>(_ number: Number) {
        for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func write(_ more: ArraySlice<UInt8>) { bytes.append(contentsOf: more) }

    /// Starts an entry; its body follows.
    mutating func beginEntry(_ key: UInt32, size: UInt32) {
        write(key)
        write(size)
    }
}
