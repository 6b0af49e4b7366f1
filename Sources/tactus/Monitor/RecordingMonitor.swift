import BeatTime
import ClockMeter
import Essentials
import Glibc
import SoundFile

/// Measures the clock in a recording.
struct RecordingMonitor {
    let path: String
    let kind: SoundKind
    /// Counted from 1.
    var channel = 1
    /// The channel to compare with.
    var against: Int?
    /// How much of it to measure, in seconds; nil for all.
    var seconds: Int?

    /// Measures the recording.
    ///
    /// - Parameters:
    ///   - tempo: the tempo it should have.
    ///   - isStopped: returns whether the user has asked to stop.
    /// - Returns: the results.
    /// - Throws: if there is nothing to measure.
    func report(tempo: Tempo?, until isStopped: () -> Bool) throws(Failure) -> MonitorReport {
        var file = try open()
        let channels = soundChannels(channel, against: against)
        if let missing = channels.first(where: { $0 > file.channelCount }) {
            let count = file.channelCount == 1 ? "1 channel" : "\(file.channelCount) channels"
            throw Failure(.usage, "\(path) has \(count), and none is \(missing)")
        }
        guard (kind.leastSampleRate...768_000).contains(file.sampleRate) else {
            throw Failure(
                .badFile,
                "\(path) has \(file.sampleRate) samples a second; --as \(kind.rawValue) needs "
                    + "\(kind.leastSampleRate) to 768000: record it again; converting it does not help")
        }
        var meters = SoundMeters(kind, sampleRate: file.sampleRate, channels: channels)
        let most = seconds.map { $0 * file.sampleRate } ?? .max
        while meters.count < most, !isStopped() {
            let samples = try read(&file, channels).map { Array($0.prefix(most - meters.count)) }
            guard !samples[0].isEmpty else { break }
            meters.take(samples)
        }
        meters.finish()
        try meters.requireTwoSounds(of: path)
        return MonitorReport(
            name: "\(Files.name(of: path)), channel \(channel)", stamps: .recording,
            figures: meters.figures(nominal: tempo), recording: meters.sound)
    }

    private func open() throws(Failure) -> SoundFile {
        guard Files.exists(path) else { throw Failure(.unavailable, "there is no file \(path)") }
        // Check this first, because opening a FIFO would wait for a writer.
        guard Files.kind(of: path) == .other else { throw Failure(.usage, "\(path) is not an ordinary file") }
        guard access(path, R_OK) == 0 else { throw Failure(.noPermission, "\(path): no permission to read it") }
        do {
            return try SoundFile(path: path)
        } catch {
            throw failure(error)
        }
    }

    private func read(_ file: inout SoundFile, _ channels: [Int]) throws(Failure) -> [[Float]] {
        do {
            return try file.read(channels.map { $0 - 1 })
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ error: SoundFile.Failure) -> Failure {
        switch error {
        case .noLibrary:
            Failure(.system, "recordings are read by libsndfile; install it with 'sudo apt install libsndfile1'")
        case .unreadable(let reason): Failure(.badFile, "\(path) cannot be read: \(reason)")
        }
    }
}

extension MonitorReport {
    /// Why a recording shows no clock; nil if it does.
    var nothingHeard: String? {
        guard figures.ticks.received == 0, let recording else { return nil }
        let place = "on channel \(recording.channel)"
        let level = recording.peakDecibels.map { "its loudest sample is at \(fixed($0, 0)) dB" } ?? "it is silent"
        return switch recording.kind {
        case .clicks:
            "no click is heard \(place); \(level); check that it is the right channel (--channel), and loud enough"
        case .midi:
            "no MIDI clock is heard \(place), and \(MonitorText.times(recording.unreadable)) a signal that is no MIDI; "
                + "\(level); check that it is the right channel (--channel), and that its level does not clip"
        }
    }
}
