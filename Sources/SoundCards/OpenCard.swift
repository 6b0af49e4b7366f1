package import ALSASequencer
internal import CALSA
internal import Glibc

/// A sound card opened to record or to play, with its own sample rate and format if possible; closed when it ends.
package struct OpenCard: ~Copyable {
    /// For calls of libasound; valid as long as this value.
    package let handle: OpaquePointer
    package let format: SampleFormat
    package let channelCount: Int
    /// In Hz.
    package let sampleRate: Int
    /// How many frames the card's buffer holds; a frame is one sample of each channel.
    package let bufferSize: Int
    /// How many frames the card takes from it at a time.
    package let periodSize: Int
    /// Whether libasound may convert the sample rate.
    package let isResampled: Bool

    package enum Direction: Sendable {
        case recording
        case playing

        var stream: snd_pcm_stream_t { self == .playing ? SND_PCM_STREAM_PLAYBACK : SND_PCM_STREAM_CAPTURE }
    }

    /// Preferred lengths of a period and of the card's buffer, in microseconds; a card that supports neither keeps its own.
    package struct Times: Sendable {
        var period: UInt32
        var buffer: UInt32

        package init(period: UInt32, buffer: UInt32) { (self.period, self.buffer) = (period, buffer) }
    }

    /// What is asked of a card.
    private struct Wish {
        var direction: Direction
        var channels: Int
        var times: Times
        var isResampled = false
    }

    /// What a card has agreed to.
    private struct Setup {
        var format: SampleFormat
        var channelCount: UInt32
        var sampleRate: UInt32
        var bufferSize: snd_pcm_uframes_t = 0
        var periodSize: snd_pcm_uframes_t = 0
    }

    /// Sample rates that are accepted, and the preferred one, in Hz; a higher one would add little precision.
    private static let (sampleRates, wantedRate): (ClosedRange<UInt32>, UInt32) = (44_100...192_000, 48_000)
    /// Highest channel that can be asked for.
    package static let mostChannels = 256

    /// Opens a card.
    ///
    /// If the card supports no known format, access mode or sample rate, libasound converts its sound.
    ///
    /// - Parameters:
    ///   - name: libasound's name of the card, such as `hw:1`.
    ///   - direction: recording or playing.
    ///   - channels: the smallest number of channels it must have.
    ///   - times: lengths of a period and of the buffer.
    /// - Throws: the error's code is -EINVAL if the card has too few channels.
    package init(
        _ name: String, for direction: Direction, channels: Int, _ times: Times
    ) throws(ALSAError) {
        let card = SoundCard.itself(name)
        var wish = Wish(direction: direction, channels: channels, times: times)
        do throws(ALSAError) {
            self = try Self.open(card, wish)
            return
        } catch {
            guard error.code == -EINVAL else { throw error }
        }
        var converter = card
        if card.hasPrefix("hw:") {
            wish.channels = try Self.supportedChannelCount(of: card, wish)
            converter = "plug\(card)"
            do throws(ALSAError) {
                self = try Self.open(converter, wish)
                return
            } catch {
                guard error.code == -EINVAL else { throw error }
            }
        }
        wish.isResampled = true
        self = try Self.open(converter, wish)
    }

    private init(_ handle: OpaquePointer, _ setup: Setup, isResampled: Bool) {
        self.handle = handle
        self.isResampled = isResampled
        format = setup.format
        (channelCount, sampleRate) = (Int(setup.channelCount), Int(setup.sampleRate))
        (bufferSize, periodSize) = (Int(setup.bufferSize), Int(setup.periodSize))
    }

    deinit { snd_pcm_close(handle) }

    private static func open(_ name: String, _ wish: Wish) throws(ALSAError) -> OpenCard {
        let handle = try opened(name, wish.direction)
        do throws(ALSAError) {
            let setup = try configure(handle, wish)
            try configureStamps(handle)
            return OpenCard(handle, setup, isResampled: wish.isResampled)
        } catch {
            snd_pcm_close(handle)
            throw error
        }
    }

    private static func opened(_ name: String, _ direction: Direction) throws(ALSAError) -> OpaquePointer {
        var opened: OpaquePointer?
        try check("snd_pcm_open", snd_pcm_open(&opened, name, direction.stream, Int32(SND_PCM_NONBLOCK)))
        return opened!  // a zero return means it has been opened
    }

    /// Chooses the sample rate first: some cards have fewer channels at higher ones.
    private static func configure(_ handle: OpaquePointer, _ wish: Wish) throws(ALSAError) -> Setup {
        let parameters = try ALSAStructure(snd_pcm_hw_params_malloc, { snd_pcm_hw_params_free($0) })
        let pointer = parameters.pointer
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(handle, pointer))
        snd_pcm_hw_params_set_rate_resample(handle, pointer, wish.isResampled ? 1 : 0)
        try check(
            "snd_pcm_hw_params_set_access",
            snd_pcm_hw_params_set_access(handle, pointer, SND_PCM_ACCESS_RW_INTERLEAVED))
        let fewest = try limitChannels(handle, pointer, atLeast: wish.channels)
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
        // The buffer's length is set first, because it matters more.
        var (periodTime, bufferTime) = (wish.times.period, wish.times.buffer)
        snd_pcm_hw_params_set_buffer_time_near(handle, pointer, &bufferTime, nil)
        snd_pcm_hw_params_set_period_time_near(handle, pointer, &periodTime, nil)
        try check("snd_pcm_hw_params", snd_pcm_hw_params(handle, pointer))
        var setup = Setup(format: format, channelCount: count, sampleRate: rate)
        try check("buffer", snd_pcm_hw_params_get_buffer_size(pointer, &setup.bufferSize))
        try check("period", snd_pcm_hw_params_get_period_size(pointer, &setup.periodSize, nil))
        return setup
    }

    /// Leaves only configurations with enough channels.
    ///
    /// - Returns: the number that is enough.
    private static func limitChannels(
        _ handle: OpaquePointer, _ parameters: OpaquePointer, atLeast channels: Int
    ) throws(ALSAError) -> UInt32 {
        var fewest = UInt32(clamping: channels)
        guard channels <= mostChannels, snd_pcm_hw_params_set_channels_min(handle, parameters, &fewest) == 0 else {
            throw ALSAError(operation: "channel \(channels)", code: -EINVAL)
        }
        return fewest
    }

    /// Finds how many channels to open a card with.
    ///
    /// - Returns: the number nearest to 2 that the card supports and that is enough.
    private static func supportedChannelCount(of card: String, _ wish: Wish) throws(ALSAError) -> Int {
        let handle = try opened(card, wish.direction)
        defer { snd_pcm_close(handle) }
        let parameters = try ALSAStructure(snd_pcm_hw_params_malloc, { snd_pcm_hw_params_free($0) })
        try check("snd_pcm_hw_params_any", snd_pcm_hw_params_any(handle, parameters.pointer))
        var count = max(2, try limitChannels(handle, parameters.pointer, atLeast: wish.channels))
        try check(
            "snd_pcm_hw_params_set_channels", snd_pcm_hw_params_set_channels_near(handle, parameters.pointer, &count))
        return Int(count)
    }

    /// The most channels that a card has; nil if it is absent or in use.
    package static func channelCount(of card: String, for direction: Direction) -> Int? {
        guard let handle = try? opened(card, direction) else { return nil }
        defer { snd_pcm_close(handle) }
        guard let parameters = try? ALSAStructure(snd_pcm_hw_params_malloc, { snd_pcm_hw_params_free($0) }),
            snd_pcm_hw_params_any(handle, parameters.pointer) >= 0
        else { return nil }
        var count: UInt32 = 0
        guard snd_pcm_hw_params_get_channels_max(parameters.pointer, &count) == 0 else { return nil }
        return Int(min(count, UInt32(mostChannels)))
    }

    /// Makes the driver take its timestamps from CLOCK_MONOTONIC_RAW, the clock that Link uses; nothing starts by itself.
    private static func configureStamps(_ handle: OpaquePointer) throws(ALSAError) {
        let parameters = try ALSAStructure(snd_pcm_sw_params_malloc, { snd_pcm_sw_params_free($0) })
        let pointer = parameters.pointer
        try check("snd_pcm_sw_params_current", snd_pcm_sw_params_current(handle, pointer))
        try check(
            "snd_pcm_sw_params_set_start_threshold",
            snd_pcm_sw_params_set_start_threshold(handle, pointer, snd_pcm_uframes_t(Int32.max)))
        try check(
            "snd_pcm_sw_params_set_tstamp_mode",
            snd_pcm_sw_params_set_tstamp_mode(handle, pointer, SND_PCM_TSTAMP_ENABLE))
        try check(
            "snd_pcm_sw_params_set_tstamp_type",
            snd_pcm_sw_params_set_tstamp_type(handle, pointer, SND_PCM_TSTAMP_TYPE_MONOTONIC_RAW))
        try check("snd_pcm_sw_params", snd_pcm_sw_params(handle, pointer))
    }

    /// When the driver last knew how far the card is, in microseconds of CLOCK_MONOTONIC_RAW.
    ///
    /// For a plug-in it is the time of this call, because plug-ins may use another clock, or return the time of an earlier
    /// call.
    ///
    /// - Parameter status: as `snd_pcm_status` has just filled it in.
    /// - Returns: the time.
    package func time(of status: borrowing ALSAStructure) -> Double {
        var time = timespec()
        if snd_pcm_type(handle) == SND_PCM_TYPE_HW { snd_pcm_status_get_htstamp(status.pointer, &time) }
        if time.tv_sec == 0, time.tv_nsec == 0 { clock_gettime(CLOCK_MONOTONIC_RAW, &time) }
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
