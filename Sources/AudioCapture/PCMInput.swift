internal import ALSASequencer
internal import CALSA
internal import Glibc
internal import OnsetDetection
internal import RealTime
internal import SoundCards

/// A sound card's input.
///
/// Owned by one thread.
struct PCMInput: ~Copyable {
    private let card: OpenCard
    private let status: ALSAStructure
    private let buffer: UnsafeMutableRawBufferPointer
    /// Number of frames read since the card was opened; a frame is one sample of each channel.
    private var frames = 0

    /// Preferred lengths of a period and of the card's buffer, in microseconds.
    ///
    /// Sound arrives a period at a time. The buffer keeps it while this thread does not run.
    private static let times = OpenCard.Times(period: 5_000, buffer: 500_000)
    /// Largest number of frames in one read.
    private static let framesAtOnce = 1_024

    /// The result of a read.
    enum Reading {
        case sound(frames: Int)
        /// There is no new sound yet.
        case nothing
        /// Sound was lost: it was not read in time, or the machine has slept.
        case overrun
    }

    /// Opens a card.
    ///
    /// - Parameters:
    ///   - name: libasound's name of the card, such as `hw:1`.
    ///   - channels: the smallest number of channels it must have.
    /// - Throws: the error's code is -EINVAL if the card has too few channels.
    init(opening name: String, channels: Int) throws(ALSAError) {
        let status = try ALSAStructure(snd_pcm_status_malloc, { snd_pcm_status_free($0) })
        self.init(try OpenCard(name, for: .recording, channels: channels, Self.times), status)
    }

    private init(_ card: consuming OpenCard, _ status: consuming ALSAStructure) {
        buffer = .allocate(byteCount: Self.framesAtOnce * card.channelCount * card.format.size, alignment: 16)
        self.card = card
        self.status = status
    }

    deinit { buffer.deallocate() }

    /// In Hz.
    var sampleRate: Int { card.sampleRate }
    /// Whether libasound may convert the sample rate.
    var isResampled: Bool { card.isResampled }
    private var handle: OpaquePointer { card.handle }

    /// Starts recording.
    func start() throws(ALSAError) { try check("snd_pcm_start", snd_pcm_start(handle)) }

    /// The file descriptors on which `poll` waits for more sound.
    var descriptors: [pollfd] {
        let count = max(0, Int(snd_pcm_poll_descriptors_count(handle)))
        var descriptors = [pollfd](repeating: pollfd(), count: count)
        let filled = snd_pcm_poll_descriptors(handle, &descriptors, UInt32(count))
        return Array(descriptors.prefix(max(0, Int(filled))))
    }

    /// Tells libasound what `poll` reported for ``descriptors``.
    ///
    /// Plug-ins such as dsnoop clear their wake-up only in this call. Without it, every later `poll` returns at once.
    func acknowledge(_ descriptors: ArraySlice<pollfd>) {
        var (descriptors, events) = (Array(descriptors), UInt16(0))
        snd_pcm_poll_descriptors_revents(handle, &descriptors, UInt32(descriptors.count), &events)
    }

    /// Reads the new sound without waiting, at most `framesAtOnce` frames.
    ///
    /// - Throws: if the card is gone.
    mutating func read() throws(ALSAError) -> Reading {
        let count = snd_pcm_readi(handle, buffer.baseAddress, UInt(Self.framesAtOnce))
        switch Int32(clamping: count) {
        case 1...:
            frames += count
            return .sound(frames: count)
        case 0, -EAGAIN, -EINTR: return .nothing
        case -EPIPE, -ESTRPIPE:
            try check("snd_pcm_prepare", snd_pcm_prepare(handle))
            try start()
            return .overrun
        case let code: throw ALSAError(operation: "snd_pcm_readi", code: code)
        }
    }

    /// The samples of one channel from the last read.
    ///
    /// - Parameters:
    ///   - channel: counted from 0.
    ///   - frames: the number of frames that the read returned.
    /// - Returns: the samples; full scale is 1.
    func samples(ofChannel channel: Int, frames: Int) -> [Float] {
        let (count, format) = (card.channelCount, card.format)
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<(frames * count * format.size)])
        return format.samples(ofChannel: channel, of: count, in: bytes)
    }

    /// The number of frames the card has delivered, read or not, and the time of that count.
    ///
    /// - Returns: nil if libasound does not report a status.
    func stamp() -> SoundBlock.Stamp? {
        guard snd_pcm_status(handle, status.pointer) == 0 else { return nil }
        return SoundBlock.Stamp(
            samples: frames + Int(snd_pcm_status_get_avail(status.pointer)),
            microseconds: card.time(of: status))
    }
}
