internal import CALSA

/// How a sound card writes its samples, all of them little-endian.
enum SampleFormat: CaseIterable, Sendable {
    // In the order in which they are wanted.
    case integer32
    /// 24 bits in three bytes.
    case packed24
    /// 24 bits in the lower three bytes of four; the fourth may be anything.
    case integer24
    case integer16
    case float32

    var name: snd_pcm_format_t {
        switch self {
        case .integer32: SND_PCM_FORMAT_S32_LE
        case .packed24: SND_PCM_FORMAT_S24_3LE
        case .integer24: SND_PCM_FORMAT_S24_LE
        case .integer16: SND_PCM_FORMAT_S16_LE
        case .float32: SND_PCM_FORMAT_FLOAT_LE
        }
    }

    /// Bytes of a sample.
    var size: Int {
        switch self {
        case .integer32, .integer24, .float32: 4
        case .packed24: 3
        case .integer16: 2
        }
    }

    /// Reads one channel out of frames; full scale is 1.
    ///
    /// - Parameters:
    ///   - channel: counted from 0.
    ///   - count: how many channels a frame has.
    ///   - bytes: whole frames.
    /// - Returns: its samples.
    func samples(ofChannel channel: Int, of count: Int, in bytes: UnsafeRawBufferPointer) -> [Float] {
        let frame = count * size
        return stride(from: channel * size, to: bytes.count / frame * frame, by: frame).map { place in
            switch self {
            case .integer32: Self.scaled(bytes.loadUnaligned(fromByteOffset: place, as: Int32.self))
            case .integer24: Self.scaled(bytes.loadUnaligned(fromByteOffset: place, as: Int32.self) << 8)
            case .integer16: Self.scaled(Int32(bytes.loadUnaligned(fromByteOffset: place, as: Int16.self)) << 16)
            case .float32: bytes.loadUnaligned(fromByteOffset: place, as: Float.self)
            case .packed24:
                Self.scaled(
                    Int32(bytes[place]) << 8 | Int32(bytes[place + 1]) << 16
                        | Int32(Int8(bitPattern: bytes[place + 2])) << 24)
            }
        }
    }

    private static func scaled(_ value: Int32) -> Float { Float(value) / 2_147_483_648 }
}
