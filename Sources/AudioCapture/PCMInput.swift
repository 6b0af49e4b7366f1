internal import ALSASequencer
internal import CALSA
internal import Glibc
internal import OnsetDetection
internal import RealTime

/// A sound card's input, opened with whatever sample rate, format and number of channels it has.
///
/// Owned by one thread.
struct PCMInput: ~Copyable {
    private let handle: OpaquePointer
    private let status: ALSAStructure
    let format: SampleFormat
    let channelCount: Int
    let sampleRate: Int
    private let buffer: UnsafeMutableRawBufferPointer
    /// Frames read since it was opened.
    private var frames = 0

    /// In the order in which they are wanted; more than 48 000 samples a second tell little more.
    private static let sampleRates: [UInt32] = [48_000, 44_100, 96_000, 88_200, 192_000, 176_400]
    private static let mostChannels: UInt32 = 256
    /// Microseconds of sound that come at once, and that are kept while this thread does not run.
    private static let (period, memory): (UInt32, UInt32) = (5_000, 500_000)
    /// Frames that are read at once.
    private static let framesAtOnce = 1_024

    /// What has been read.
    enum Reading {
        case sound(frames: Int)
        /// Nothing is there yet.
        case nothing
        /// Sound was lost: nobody read it in time.
        case overrun
    }

    private init(
        _ handle: OpaquePointer, _ setup: (format: SampleFormat, channelCount: Int, sampleRate: Int),
        _ status: consuming ALSAStructure
    ) {
        self.handle = handle
        self.status = status
        (format, channelCount, sampleRate) = setup
        buffer = .allocate(byteCount: Self.framesAtOnce * setup.channelCount * setup.format.size, alignment: 16)
    }

    /// Opens a card.
    ///
    /// - Parameters:
    ///   - name: as libasound knows it, such as `hw:1`.
    ///   - channels: how many it must have at least.
    /// - Returns: the card; it is closed when the value ends.
    /// - Throws: the code is -EINVAL where it has too few channels, or no format or sample rate that we know.
    static func open(_ name: String, channels: Int) throws(ALSAError) -> PCMInput {
        let status = try ALSAStructure(snd_pcm_status_malloc, { snd_pcm_status_free($0) })
        var opened: OpaquePointer?
        try check("snd_pcm_open", snd_pcm_open(&opened, name, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK)))
        let handle = opened!  // a zero return means it has been opened
        do throws(ALSAError) {
            let setup = try configure(handle, channels: channels)
            try configureStamps(handle)
            return PCMInput(handle, setup, status)
        } catch {
            snd_pcm_close(handle)
            throw error
        }
    }

    deinit {
        snd_pcm_close(handle)
        buffer.deallocate()
    }

    private static func configure(
        _ handle: OpaquePointer, channels: Int
    ) throws(ALSAError) -> (format: SampleFormat, channelCount: Int, sampleRate: Int) {
        let parameters = try ALSAStructure(snd_pcm_hw_params_malloc, { snd_pcm_hw_params_free($0) })
        let pointer = parameters.pointer
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(handle, pointer))
        // What the card itself samples, where something in between could convert.
        snd_pcm_hw_params_set_rate_resample(handle, pointer, 0)
        try check(
            "snd_pcm_hw_params_set_access",
            snd_pcm_hw_params_set_access(handle, pointer, SND_PCM_ACCESS_RW_INTERLEAVED))
        guard
            let format = SampleFormat.all.first(where: {
                snd_pcm_hw_params_test_format(handle, pointer, $0.name) == 0
            })
        else { throw ALSAError(operation: "format", code: -EINVAL) }
        try check("snd_pcm_hw_params_set_format", snd_pcm_hw_params_set_format(handle, pointer, format.name))
        let least = UInt32(clamping: channels)
        guard
            let count = (least..<max(least, mostChannels + 1)).first(where: {
                snd_pcm_hw_params_test_channels(handle, pointer, $0) == 0
            })
        else { throw ALSAError(operation: "channel \(channels)", code: -EINVAL) }
        try check("snd_pcm_hw_params_set_channels", snd_pcm_hw_params_set_channels(handle, pointer, count))
        guard let rate = sampleRates.first(where: { snd_pcm_hw_params_test_rate(handle, pointer, $0, 0) == 0 }) else {
            throw ALSAError(operation: "sample rate", code: -EINVAL)
        }
        try check("snd_pcm_hw_params_set_rate", snd_pcm_hw_params_set_rate(handle, pointer, rate, 0))
        // Near enough is good enough; a card that has other sizes keeps them.
        var (period, memory, direction) = (Self.period, Self.memory, Int32(0))
        snd_pcm_hw_params_set_period_time_near(handle, pointer, &period, &direction)
        snd_pcm_hw_params_set_buffer_time_near(handle, pointer, &memory, &direction)
        try check("snd_pcm_hw_params", snd_pcm_hw_params(handle, pointer))
        return (format, Int(count), Int(rate))
    }

    /// Makes the driver take its timestamps from Link's clock.
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

    /// What to wait for until there is more.
    var descriptors: [pollfd] {
        let count = max(0, Int(snd_pcm_poll_descriptors_count(handle)))
        var descriptors = [pollfd](repeating: pollfd(), count: count)
        let filled = snd_pcm_poll_descriptors(handle, &descriptors, UInt32(count))
        return Array(descriptors.prefix(max(0, Int(filled))))
    }

    /// Tells libasound what `poll` reported of ``descriptors``.
    ///
    /// Plug-ins such as dsnoop clear their wake-up only there; without it `poll` returns at once for ever.
    func acknowledge(_ descriptors: ArraySlice<pollfd>) {
        var (descriptors, events) = (Array(descriptors), UInt16(0))
        snd_pcm_poll_descriptors_revents(handle, &descriptors, UInt32(descriptors.count), &events)
    }

    /// Reads what has come, as much as is read at once.
    ///
    /// - Throws: when the card is gone.
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

    /// The samples of a channel in what was read last.
    func samples(ofChannel channel: Int, frames: Int) -> [Float] {
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<(frames * channelCount * format.size)])
        return format.samples(ofChannel: channel, of: channelCount, in: bytes)
    }

    /// How many frames there were, read or not, when the driver last looked, or now.
    ///
    /// Only a card's own driver stamps for sure with the clock that was asked for. Plug-ins may ignore it, or stamp when
    /// they were asked last.
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
