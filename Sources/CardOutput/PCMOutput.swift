internal import ALSASequencer
internal import CALSA
internal import Glibc
internal import Pulses
internal import SoundCards

/// A sound card's output.
///
/// Owned by one thread.
struct PCMOutput: PlayedCard, ~Copyable {
    private let card: OpenCard
    private let status: ALSAStructure
    private let bytes: UnsafeMutableRawBufferPointer
    private(set) var written = 0
    let blockSize: Int

    /// Preferred lengths of a period and of the card's buffer, in microseconds.
    private static let times = OpenCard.Times(period: 5_000, buffer: 100_000)

    /// Opens a card.
    ///
    /// - Parameters:
    ///   - name: libasound's name of the card, such as `hw:CARD=ES8`.
    ///   - channels: the smallest number of channels it must have.
    /// - Throws: the error's code is -EINVAL if the card has too few channels.
    init(opening name: String, channels: Int) throws(ALSAError) {
        let status = try ALSAStructure(snd_pcm_status_malloc, { snd_pcm_status_free($0) })
        self.init(try OpenCard(name, for: .playing, channels: channels, Self.times), status)
    }

    private init(_ card: consuming OpenCard, _ status: consuming ALSAStructure) {
        blockSize = card.sampleRate / 1_000
        bytes = .allocate(byteCount: blockSize * card.channelCount * card.format.size, alignment: 16)
        self.card = card
        self.status = status
    }

    deinit { bytes.deallocate() }

    var sampleRate: Int { card.sampleRate }
    var channelCount: Int { card.channelCount }
    var bufferSize: Int { card.bufferSize }
    var periodSize: Int { card.periodSize }
    /// Whether the time of a frame is known from the card itself, not from a plug-in before it.
    var hasOwnClock: Bool { snd_pcm_type(card.handle) == SND_PCM_TYPE_HW }

    mutating func write(_ block: borrowing SampleBlock) throws(ALSAError) -> Bool {
        card.format.write(block.samples, to: bytes)
        var place = 0
        // What has been written counts, even if the rest is refused.
        defer { written += place }
        let frameSize = card.channelCount * card.format.size
        while place < blockSize {
            let rest = bytes.baseAddress?.advanced(by: place * frameSize)
            let count = snd_pcm_writei(card.handle, rest, UInt(blockSize - place))
            switch Int32(clamping: count) {
            case 1...: place += count
            case -EINTR: continue
            case -EPIPE, -ESTRPIPE: return false
            // It is never asked to hold more than it can; a card that takes nothing all the same stands still.
            case 0, -EAGAIN: return false
            case let code: throw ALSAError(operation: "snd_pcm_writei", code: code)
            }
        }
        return true
    }

    func start() throws(ALSAError) { try check("snd_pcm_start", snd_pcm_start(card.handle)) }

    mutating func prepare() throws(ALSAError) {
        snd_pcm_drop(card.handle)
        try check("snd_pcm_prepare", snd_pcm_prepare(card.handle))
    }

    func report() throws(ALSAError) -> CardReport? {
        try check("snd_pcm_status", snd_pcm_status(card.handle, status.pointer))
        switch snd_pcm_status_get_state(status.pointer) {
        case SND_PCM_STATE_RUNNING:
            return CardReport(
                frames: written - snd_pcm_status_get_delay(status.pointer), at: card.time(of: status),
                waiting: bufferSize - Int(clamping: snd_pcm_status_get_avail(status.pointer)))
        case SND_PCM_STATE_DISCONNECTED: throw ALSAError(operation: "snd_pcm_status", code: -ENODEV)
        default: return nil
        }
    }
}
