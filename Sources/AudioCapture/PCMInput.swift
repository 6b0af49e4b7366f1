internal import ALSASequencer
internal import CALSA
internal import Glibc
internal import OnsetDetection
internal import RealTime

/// A sound card's input, opened with its own sample rate and format if possible.
///
/// Owned by one thread.
struct PCMInput: ~Copyable {
    private let handle: OpaquePointer
    private let status: ALSAStructure
    let format: SampleFormat
    /// Whether libasound may convert the sample rate.
    let isResampled: Bool
    let channelCount: Int
    let sampleRate: Int
    private let buffer: UnsafeMutableRawBufferPointer
    /// Number of frames read since the card was opened; a frame is one sample of each channel.
    private var frames = 0

    /// Sample rates that are accepted, and the preferred one, in Hz; a higher one would add little precision.
    private static let (sampleRates, wantedRate): (ClosedRange<UInt32>, UInt32) = (44_100...192_000, 48_000)
    /// Highest channel that can be asked for.
    private static let mostChannels: UInt32 = 256
    /// Preferred lengths of a period and of the card's buffer, in microseconds.
    ///
    /// Sound arrives a period at a time. The buffer keeps it while this thread does not run.
    private static let (periodTime, bufferTime): (UInt32, UInt32) = (5_000, 500_000)
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

    private init(
        _ handle: OpaquePointer, _ setup: (format: SampleFormat, channelCount: Int, sampleRate: Int),
        _ isResampled: Bool, _ status: consuming ALSAStructure
    ) {
        self.handle = handle
        self.isResampled = isResampled
        self.status = status
        (format, channelCount, sampleRate) = setup
        buffer = .allocate(byteCount: Self.framesAtOnce * setup.channelCount * setup.format.size, alignment: 16)
    }

    /// Opens a card.
    ///
    /// If the card supports no known format, access mode or sample rate, libasound converts its sound.
    ///
    /// - Parameters:
    ///   - name: libasound's name of the card, such as `hw:1`.
    ///   - channels: the smallest number of channels it must have.
    /// - Returns: the card; it is closed when the value ends.
    /// - Throws: the error's code is -EINVAL if the card has too few channels.
    static func open(_ name: String, channels: Int) throws(ALSAError) -> PCMInput {
        // Open the card itself even if `plughw` is requested: `plughw` would make up channels that the card lacks.
        let card = name.hasPrefix("plughw:") ? String(name.dropFirst("plug".count)) : name
        do throws(ALSAError) {
            return try open(card, channels: channels, isResampled: false)
        } catch {
            guard error.code == -EINVAL else { throw error }
        }
        guard card.hasPrefix("hw:") else { return try open(card, channels: channels, isResampled: true) }
        let (count, converter) = (try supportedChannelCount(of: card, atLeast: channels), "plug\(card)")
        do throws(ALSAError) {
            return try open(converter, channels: count, isResampled: false)
        } catch {
            guard error.code == -EINVAL else { throw error }
            return try open(converter, channels: count, isResampled: true)
        }
    }

    private static func open(_ name: String, channels: Int, isResampled: Bool) throws(ALSAError) -> PCMInput {
        let status = try ALSAStructure(snd_pcm_status_malloc, { snd_pcm_status_free($0) })
        let handle = try opened(name)
        do throws(ALSAError) {
            let setup = try configure(handle, channels: channels, isResampled: isResampled)
            try configureStamps(handle)
            return PCMInput(handle, setup, isResampled, status)
        } catch {
            snd_pcm_close(handle)
            throw error
        }
    }

    private static func opened(_ name: String) throws(ALSAError) -> OpaquePointer {
        var opened: OpaquePointer?
        try check("snd_pcm_open", snd_pcm_open(&opened, name, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK)))
        return opened!  // a zero return means it has been opened
    }

    deinit {
        snd_pcm_close(handle)
        buffer.deallocate()
    }

    /// Chooses the sample rate first: some cards have fewer channels at higher ones.
    private static func configure(
        _ handle: OpaquePointer, channels: Int, isResampled: Bool
    ) throws(ALSAError) -> (format: SampleFormat, channelCount: Int, sampleRate: Int) {
        let parameters = try ALSAStructure(snd_pcm_hw_params_malloc, { snd_pcm_hw_params_free($0) })
        let pointer = parameters.pointer
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(handle, pointer))
        snd_pcm_hw_params_set_rate_resample(handle, pointer, isResampled ? 1 : 0)
        try check(
            "snd_pcm_hw_params_set_access",
            snd_pcm_hw_params_set_access(handle, pointer, SND_PCM_ACCESS_RW_INTERLEAVED))
        let fewest = try limitChannels(handle, pointer, atLeast: channels)
        var (least, most, rate) = (sampleRates.lowerBound, sampleRates.upperBound, wantedRate)
        var (lowDirection, highDirection) = (Int32(0), Int32(0))
        try check(
            "sample rate",
            snd_pcm_hw_params_set_rate_minmax(handle, pointer, &least, &lowDirection, &most, &highDirection))
        try check("sample rate", snd_pcm_hw_params_set_rate_near(handle, pointer, &rate, nil))
        guard
            let format = SampleFormat.all.first(where: {
                snd_pcm_hw_params_test_format(handle, pointer, $0.name) == 0
            })
        else { throw ALSAError(operation: "format", code: -EINVAL) }
        try check("snd_pcm_hw_params_set_format", snd_pcm_hw_params_set_format(handle, pointer, format.name))
        var count = max(2, fewest)
        try check("snd_pcm_hw_params_set_channels", snd_pcm_hw_params_set_channels_near(handle, pointer, &count))
        // A card that supports neither length keeps its own. The buffer's is set first, because it matters more.
        var (periodTime, bufferTime) = (Self.periodTime, Self.bufferTime)
        snd_pcm_hw_params_set_buffer_time_near(handle, pointer, &bufferTime, nil)
        snd_pcm_hw_params_set_period_time_near(handle, pointer, &periodTime, nil)
        try check("snd_pcm_hw_params", snd_pcm_hw_params(handle, pointer))
        return (format, Int(count), Int(rate))
    }

    /// Leaves only configurations with enough channels.
    ///
    /// - Returns: the number that is enough.
    private static func limitChannels(
        _ handle: OpaquePointer, _ parameters: OpaquePointer, atLeast channels: Int
    ) throws(ALSAError) -> UInt32 {
        var fewest = UInt32(clamping: channels)
        guard fewest <= mostChannels, snd_pcm_hw_params_set_channels_min(handle, parameters, &fewest) == 0 else {
            throw ALSAError(operation: "channel \(channels)", code: -EINVAL)
        }
        return fewest
    }

    /// Finds how many channels to open a card with.
    ///
    /// - Returns: the number nearest to 2 that the card supports and that is at least `channels`.
    private static func supportedChannelCount(of card: String, atLeast channels: Int) throws(ALSAError) -> Int {
        let handle = try opened(card)
        defer { snd_pcm_close(handle) }
        let parameters = try ALSAStructure(snd_pcm_hw_params_malloc, { snd_pcm_hw_params_free($0) })
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(handle, parameters.pointer))
        var count = max(2, try limitChannels(handle, parameters.pointer, atLeast: channels))
        try check(
            "snd_pcm_hw_params_set_channels", snd_pcm_hw_params_set_channels_near(handle, parameters.pointer, &count))
        return Int(count)
    }

    /// Makes the driver take its timestamps from CLOCK_MONOTONIC_RAW, the clock that Link uses.
    private static func configureStamps(_ handle: OpaquePointer) throws(ALSAError) {
        let parameters = try ALSAStructure(snd_pcm_sw_params_malloc, { snd_pcm_sw_params_free($0) })
        let pointer = parameters.pointer
        try check("snd_pcm_sw_params_current", snd_pcm_sw_params_current(handle, pointer))
        try check(
            "snd_pcm_sw_params_set_tstamp_mode",
            snd_pcm_sw_params_set_tstamp_mode(handle, pointer, SND_PCM_TSTAMP_ENABLE))
        try check(
            "snd_pcm_sw_params_set_tstamp_type",
            snd_pcm_sw_params_set_tstamp_type(handle, pointer, SND_PCM_TSTAMP_TYPE_MONOTONIC_RAW))
        try check("snd_pcm_sw_params", snd_pcm_sw_params(handle, pointer))
    }

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
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<(frames * channelCount * format.size)])
        return format.samples(ofChannel: channel, of: channelCount, in: bytes)
    }

    /// The number of frames the card has delivered, read or not, and the time of that count.
    ///
    /// The time is the driver's timestamp if the card itself is open. For a plug-in it is the time of this call,
    /// because plug-ins may use another clock, or return the time of an earlier call.
    ///
    /// - Returns: nil if libasound does not report a status.
    func stamp() -> SoundBlock.Stamp? {
        guard snd_pcm_status(handle, status.pointer) == 0 else { return nil }
        var time = timespec()
        if snd_pcm_type(handle) == SND_PCM_TYPE_HW { snd_pcm_status_get_htstamp(status.pointer, &time) }
        if time.tv_sec == 0, time.tv_nsec == 0 { clock_gettime(CLOCK_MONOTONIC_RAW, &time) }
        return SoundBlock.Stamp(
            samples: frames + Int(snd_pcm_status_get_avail(status.pointer)),
            microseconds: Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3)
    }
}
