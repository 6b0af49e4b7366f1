/// A message of MIDI time code.
package enum TimeCodeMessage: Hashable, Sendable, BitwiseCopyable {
    /// Quarter Frame, F1: one of the eight pieces of a time, which together take two frames.
    case quarterFrame(piece: UInt8, of: TimeCode)
    /// Full Frame, ten bytes that begin with F0: a whole time, where a receiver is to be while nothing runs.
    case fullFrame(TimeCode)

    /// The message's bytes, first byte lowest in the word, and their number.
    package var wire: (bytes: UInt128, count: Int) {
        switch self {
        case .quarterFrame(let piece, let time): (0xF1 | UInt128(Self.data(ofPiece: piece, of: time)) << 8, 2)
        case .fullFrame(let time): (Self.wholeTime(time), 10)
        }
    }

    /// The data byte of a quarter frame: the piece's number, 0 to 7, and its four bits.
    package static func data(ofPiece piece: UInt8, of time: TimeCode) -> UInt8 {
        let parts = time.parts
        let value =
            switch piece >> 1 {
            case 0: parts.frames
            case 1: parts.seconds
            case 2: parts.minutes
            default: hours(parts.hours, time.rate)
            }
        return piece << 4 | UInt8(truncatingIfNeeded: piece & 1 == 0 ? value & 0xF : value >> 4)
    }

    /// For all devices: F0 7F 7F 01 01, hours, minutes, seconds, frames, F7.
    private static func wholeTime(_ time: TimeCode) -> UInt128 {
        let parts = time.parts
        var bytes: UInt128 = 0x01_01_7F_7F_F0
        bytes |= UInt128(hours(parts.hours, time.rate)) << 40 | UInt128(parts.minutes) << 48
        return bytes | UInt128(parts.seconds) << 56 | UInt128(parts.frames) << 64 | 0xF7 << 72
    }

    /// The hours with the rate in the two bits above them.
    private static func hours(_ hours: Int64, _ rate: TimeCode.Rate) -> Int64 { hours | Int64(rate.rawValue) << 5 }
}
