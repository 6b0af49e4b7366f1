internal import CALSA

/// A sample format of ALSA: integers or floating-point numbers.
package struct SampleFormat: Hashable, Sendable {
    /// ALSA's constant for the format.
    let name: snd_pcm_format_t
    /// Number of bytes per sample.
    package let size: Int
    private let isFloat: Bool
    /// Number of significant bits of a sample; they are the lowest bits of its `size` bytes.
    private let width: Int
    private let isSigned: Bool
    private let isBigEndian: Bool

    /// Describes a format.
    ///
    /// - Returns: nil if its samples are not plain numbers, such as a compressed format or DSD.
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

    /// All supported formats, best first.
    ///
    /// The more bits an integer format has, the earlier it comes. Floating point comes after 16 bits and before 8.
    static let all = (0..<SND_PCM_FORMAT_DSD_U8.rawValue)
        .compactMap { SampleFormat(snd_pcm_format_t($0)) }
        .sorted { $0.rank > $1.rank }

    private var rank: Int { isFloat ? 9 : width }

    /// Extracts the samples of one channel from interleaved frames.
    ///
    /// - Parameters:
    ///   - channel: counted from 0.
    ///   - count: the number of channels in a frame.
    ///   - bytes: the frames; an incomplete frame at the end is ignored.
    /// - Returns: the samples; full scale is 1.
    package func samples(ofChannel channel: Int, of count: Int, in bytes: UnsafeRawBufferPointer) -> [Float] {
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
        // Shift out the bits above `width`, which may contain anything. In unsigned formats, the middle value is zero.
        var high = UInt32(truncatingIfNeeded: bits << UInt64(32 - width))
        if !isSigned { high ^= 1 << 31 }
        return Float(Int32(bitPattern: high)) / 2_147_483_648
    }

    /// Writes samples one after the other.
    ///
    /// - Parameters:
    ///   - samples: full scale is 1; what exceeds it is limited.
    ///   - bytes: has room for them.
    package func write(_ samples: [Float], to bytes: UnsafeMutableRawBufferPointer) {
        var place = 0
        for sample in samples {
            var bits = self.bits(sample)
            if isBigEndian { bits = bits.byteSwapped >> UInt64(64 - 8 * size) }
            for _ in 0..<size {
                bytes[place] = UInt8(truncatingIfNeeded: bits)
                (place, bits) = (place + 1, bits >> 8)
            }
        }
    }

    private func bits(_ sample: Float) -> UInt64 {
        switch (isFloat, size) {
        case (true, 4): return UInt64(sample.bitPattern)
        case (true, _): return Double(sample).bitPattern
        default: break
        }
        let high = Int32(clamping: Int64((Double(sample) * 2_147_483_648).rounded()))
        let word = isSigned ? UInt32(bitPattern: high) : UInt32(bitPattern: high) ^ 1 << 31
        return UInt64(word >> UInt32(32 - width))
    }
}
