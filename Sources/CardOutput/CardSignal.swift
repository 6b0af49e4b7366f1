internal import ALSASequencer
internal import Glibc
internal import Pulses
internal import RealTime

/// A signal by which a voltmeter shows what an output of a sound card can do.
package enum CardSignal: String, CaseIterable, Sendable {
    /// A level that stays: half of full scale.
    case hold
    /// A pulse of 5 ms every second, to half of full scale.
    case pulse

    private static let level: Float = 0.5

    private func level(frame: Int, sampleRate: Int) -> Float {
        self == .hold || frame % sampleRate < sampleRate / 200 ? Self.level : 0
    }

    /// Plays it on one channel of a card, once a desktop's sound server has let go of that; blocks until it is over.
    ///
    /// - Parameters:
    ///   - device: libasound's name of the card, such as `hw:CARD=ES8`.
    ///   - channel: counted from 1.
    ///   - seconds: for how long.
    /// - Throws: if the card cannot be opened, is another program's, is gone or stands still.
    package func play(on device: String, channel: Int, seconds: Int) throws(CardFailure) {
        let number = SoundCard.number(ofDevice: device)
        let reserver = number == nil ? nil : try? CardReserver()
        defer { reserver?.stop() }
        func standing() -> CardReservations.Standing { number.flatMap { reserver?.standing(of: $0) } ?? .granted }
        if let number { reserver?.reserve([number: false]) }
        var none: [pollfd] = []
        while standing() == .asking { poll(&none, until: MonotonicTime.now().advanced(byNanoseconds: 10_000_000)) }
        if case .held(let holder) = standing() { throw .held(holder) }
        if let number { reserver?.reserve([number: true]) }
        do throws(ALSAError) {
            try play(on: device, channel: channel, seconds: seconds) {
                // The bus may have failed and come back meanwhile; whose the card is then has to be asked anew.
                if case .held = standing() { false } else { true }
            }
        } catch {
            throw .error(error)
        }
        if case .held(let holder) = standing() { throw .held(holder) }
    }

    private func play(
        on device: String, channel: Int, seconds: Int, while mayPlay: () -> Bool
    ) throws(ALSAError) {
        var card = try PCMOutput(opening: device, channels: channel)
        var block = SampleBlock(frameCount: card.blockSize, channelCount: card.channelCount)
        var (none, restarts): ([pollfd], Int) = ([], 0)
        while card.written < seconds * card.sampleRate, mayPlay() {
            let report = try card.report()
            if report == nil {
                restarts += 1
                guard restarts < 100 else { throw ALSAError(operation: "the card stands still", code: -EIO) }
                try card.prepare()
            }
            // As far ahead as it takes: nothing changes meanwhile.
            var waiting = report?.waiting ?? 0
            while waiting < card.bufferSize - card.blockSize {
                block.begin(at: card.written)
                for frame in block.frames {
                    block[channel - 1, frame] = level(frame: frame, sampleRate: card.sampleRate)
                }
                guard try card.write(block) else { break }
                waiting += card.blockSize
            }
            if report == nil { try card.start() }
            poll(&none, until: MonotonicTime.now().advanced(byNanoseconds: 10_000_000))
        }
    }
}
