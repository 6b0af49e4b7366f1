internal import CALSA

/// How a sound card writes its samples.
struct SampleFormat: Hashable, Sendable {
    var encoding: Encoding
    var isBigEndian = false

    enum Encoding: CaseIterable, Sendable {
        // In the order in which they are wanted.
        case integer32
        /// 24 bits in three bytes.
        case packed24
        /// 24 bits in the lower three bytes of four; the fourth may be anything.
        case integer24
        case integer16
        case float32
    }

    /// All that are understood, those wanted most first.
    static let all = [false, true].flatMap { isBigEndian in
        Encoding.allCases.map { SampleFormat(encoding: $0, isBigEndian: isBigEndian) }
    }

    var name: snd_pcm_format_t {
        switch encoding {
        case .integer32: isBigEndian ? SND_PCM_FORMAT_S32_BE : SND_PCM_FORMAT_S32_LE
        case .packed24: isBigEndian ? SND_PCM_FORMAT_S24_3BE : SND_PCM_FORMAT_S24_3LE
        case .integer24: isBigEndian ? SND_PCM_FORMAT_S24_BE : SND_PCM_FORMAT_S24_LE
        case .integer16: isBigEndian ? SND_PCM_FORMAT_S16_BE : SND_PCM_FORMAT_S16_LE
        case .float32: isBigEndian ? SND_PCM_FORMAT_FLOAT_BE : SND_PCM_FORMAT_FLOAT_LE
        }
    }

    /// Bytes of a sample.
    var size: Int {
        switch encoding {
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
            switch encoding {
            case .integer32: Self.scaled(word(bytes, at: place))
            case .integer24: Self.scaled(word(bytes, at: place) << 8)
            case .float32: Float(bitPattern: word(bytes, at: place))
            case .integer16:
                Self.scaled(
                    UInt32(bytes[place + (isBigEndian ? 0 : 1)]) << 24
                        | UInt32(bytes[place + (isBigEndian ? 1 : 0)]) << 16)
            case .packed24:
                Self.scaled(
                    UInt32(bytes[place + (isBigEndian ? 0 : 2)]) << 24 | UInt32(bytes[place + 1]) << 16
                        | UInt32(bytes[place + (isBigEndian ? 2 : 0)]) << 8)
            }
        }
    }

    private func word(_ bytes: UnsafeRawBufferPointer, at place: Int) -> UInt32 {
        let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }

    private static func scaled(_ value: UInt32) -> Float { Float(Int32(bitPattern: value)) / 2_147_483_648 }
}
