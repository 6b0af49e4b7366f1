internal import CALSA

/// How a sound card writes its samples: one of ALSA's formats that are plain numbers.
struct SampleFormat: Hashable, Sendable {
    /// ALSA's name of it.
    let name: snd_pcm_format_t
    /// Bytes of a sample.
    let size: Int
    private let isFloat: Bool
    /// Bits that say something: the low ones of `size` bytes.
    private let width: Int
    private let isSigned: Bool
    private let isBigEndian: Bool

    /// - Returns: nil for a compressed format, a bit stream or text.
    init?(_ name: snd_pcm_format_t) {
        isFloat = snd_pcm_format_float(name) == 1
        // The last formats are DSD, a stream of single bits, which ALSA counts among the linear ones.
        guard isFloat || snd_pcm_format_linear(name) == 1 && name.rawValue < SND_PCM_FORMAT_DSD_U8.rawValue else {
            return nil
        }
        self.name = name
        (size, width) = (Int(snd_pcm_format_physical_width(name)) / 8, Int(snd_pcm_format_width(name)))
        isSigned = snd_pcm_format_signed(name) == 1
        isBigEndian = snd_pcm_format_big_endian(name) == 1
    }

    /// All that are understood, the most precise integers first and floating point before 8 bits.
    static let all = (0..<SND_PCM_FORMAT_DSD_U8.rawValue)
        .compactMap { SampleFormat(snd_pcm_format_t($0)) }
        .sorted { $0.rank > $1.rank }

    private var rank: Int { isFloat ? 9 : width }

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
            let bits = word(UnsafeRawBufferPointer(rebasing: bytes[place..<place + size]))
            return switch (isFloat, size) {
            case (true, 4): Float(bitPattern: UInt32(bits))
            case (true, _): Float(Double(bitPattern: bits))
            default: number(bits)
            }
        }
    }

    private func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        isBigEndian ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func number(_ bits: UInt64) -> Float {
        // What lies above `width` may be anything, and zero lies in the middle of what has no sign.
        var high = UInt32(truncatingIfNeeded: bits << UInt64(32 - width))
        if !isSigned { high ^= 1 << 31 }
        return Float(Int32(bitPattern: high)) / 2_147_483_648
    }
}
