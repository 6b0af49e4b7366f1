import ALSASequencer
import BeatTime
import Gateway
import Glibc
import MIDIClock
import RealTime
import Synchronization

/// A source of clock messages.
///
/// Only one thread may read it.
struct ClockLine: Sendable {
    /// Readable when messages are waiting.
    let descriptor: Int32
    /// Whether the kernel timestamps messages; if not, they are timestamped when they are read.
    let hasKernelStamps: Bool
    /// Reads the waiting messages; throws a message for the user if the source is gone.
    let take: @Sendable (inout [ClockInputEvent]) throws(LineGone) -> Void

    /// A sequencer port.
    init(_ input: SequencerInput) {
        descriptor = input.descriptor
        hasKernelStamps = input.hasKernelStamps
        take = { (events: inout [ClockInputEvent]) throws(LineGone) in input.take(into: &events) }
    }

    /// A raw MIDI device.
    ///
    /// - Parameter device: `hw:CARD,DEVICE`.
    /// - Throws: if it does not exist, or another program reads it.
    init(device: String) throws(Failure) {
        ALSAComplaints.capture { _ in }  // libasound's own message is not needed; the error says the same
        let opened: Opened
        do {
            opened = Opened(try RawClockInput.open(device))
        } catch {
            switch error.code {
            case -EACCES: throw Failure(.noPermission, "\(error); join the group audio and log in again")
            case -EBUSY: throw Failure(.unavailable, "another program reads \(device); close it")
            default: throw Failure(.unavailable, "no raw MIDI device \(device) (\(error)); 'amidi -l' lists them")
            }
        }
        (descriptor, hasKernelStamps) = opened.input.withLock { ($0.descriptor, $0.hasKernelStamps) }
        take = { (events: inout [ClockInputEvent]) throws(LineGone) in try opened.take(into: &events) }
    }

    /// A device node, FIFO or serial line.
    ///
    /// - Throws: if it does not exist, or is something else.
    init(path: String, bitsPerSecond: Int) throws(Failure) {
        let bytes: ByteLine
        do {
            bytes = ByteLine(try RawLine.open(path: path, bitsPerSecond: bitsPerSecond, for: .reading))
        } catch {
            switch error {
            case .notALine: throw Failure(.usage, error.description)
            case .system(let cause) where cause.code == EACCES: throw Failure(.noPermission, error.description)
            case .locked, .system: throw Failure(.unavailable, error.description)
            }
        }
        (descriptor, hasKernelStamps) = (bytes.descriptor, false)
        take = { (events: inout [ClockInputEvent]) throws(LineGone) in try bytes.take(into: &events) }
    }
}

/// Why a source has ended.
struct LineGone: Error, Hashable {
    var reason: String
}

/// Owns a raw MIDI device; a class, so that a closure can hold it.
private final class Opened: Sendable {
    let input: Mutex<RawClockInput>

    init(_ input: consuming sending RawClockInput) { self.input = Mutex(input) }

    func take(into events: inout [ClockInputEvent]) throws(LineGone) {
        let failure = input.withLock { device -> ALSAError? in
            do throws(ALSAError) {
                try device.take(into: &events)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw LineGone(reason: failure.description) }
    }
}

/// Reads MIDI bytes from a descriptor, and timestamps them when they are read.
private final class ByteLine: Sendable {
    let descriptor: Int32
    private let parser = Mutex(ClockByteParser())

    /// Most bytes read at once; a tick is one byte.
    private static let atOnce = 256

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func take(into events: inout [ClockInputEvent]) throws(LineGone) {
        var bytes = [UInt8](repeating: 0, count: Self.atOnce)
        let count = read(descriptor, &bytes, bytes.count)
        let time = HostTime.now()
        guard count > 0 else {
            if count < 0, [EAGAIN, EINTR].contains(errno) { return }
            throw LineGone(reason: count == 0 ? "it has ended" : String(cString: strerror(errno)))
        }
        parser.withLock { parser in
            for byte in bytes.prefix(count) {
                guard let message = parser.received(byte) else { continue }
                events.append(.arrival(ClockArrival(message, at: time, from: .device)))
            }
        }
    }
}
