import ALSASequencer
import BeatTime
import Essentials
import Glibc
import MIDIClock
import RealTime
import Synchronization

/// Writes down what the gateway's clock inputs give, for tests that know better when it was sent.
///
///     clock-probe port             the port `Clock In` of a client `Tactus In`
///     clock-probe hw:CARD,DEVICE   a raw MIDI device
///
/// It says `ready` with whether the kernel stamps, reads until its standard input ends, and then prints a line for each
/// event: microseconds of host time, source, message; or `overflow`.
@main
struct ClockProbe {
    static func main() throws {
        let source = CommandLine.arguments.dropFirst().first ?? "port"
        let events = Mutex<[ClockInputEvent]>([])
        let isStopping = Atomic(false)
        let wakeUp = try WakeUp()
        // As the gateway's thread: how soon it reads must not matter.
        let thread = try RealTimeThread(name: "probe-input", priority: 40) {
            do {
                if source == "port" {
                    let port = try SequencerInput(name: "Tactus In", portName: "Clock In")
                    say("ready \(port.hasKernelStamps)")
                    read(port.descriptor, wakeUp, isStopping) { batch in
                        port.take(into: &batch)
                        events.withLock { $0 += batch }
                    }
                } else {
                    var device = try RawClockInput.open(source)
                    say("ready \(device.hasKernelStamps)")
                    read(device.descriptor, wakeUp, isStopping) { batch in
                        do { try device.take(into: &batch) } catch { say("failed \(error)") }
                        events.withLock { $0 += batch }
                    }
                }
            } catch {
                say("failed \(error)")
            }
        }
        while readLine() != nil {}
        isStopping.store(true, ordering: .releasing)
        wakeUp.signal()
        thread.join()
        for event in events.withLock({ $0 }) { say(line(event)) }
    }

    private static func read(
        _ descriptor: Int32, _ wakeUp: WakeUp, _ isStopping: borrowing Atomic<Bool>,
        _ take: (inout [ClockInputEvent]) -> Void
    ) {
        var descriptors = [descriptor, wakeUp.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var batch: [ClockInputEvent] = []
        // At the end everything that lies there is still taken.
        while !isStopping.load(ordering: .acquiring) || !batch.isEmpty {
            if batch.isEmpty { poll(&descriptors, until: nil) }
            batch = []
            take(&batch)
        }
    }

    private static func line(_ event: ClockInputEvent) -> String {
        guard case .arrival(let arrival) = event else { return "overflow" }
        let message =
            switch arrival.message {
            case .timingClock: "clock"
            case .start: "start"
            case .continue: "continue"
            case .stop: "stop"
            case .songPosition(let beats): "position \(beats)"
            }
        return "\(arrival.time.microseconds) \(arrival.source) \(message)"
    }

    private static func say(_ text: String) {
        write("\(text)\n", to: STDOUT_FILENO)
    }
}
