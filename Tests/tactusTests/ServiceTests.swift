import Essentials
import Glibc
import RealTime
import Testing

@testable import tactus

@Suite
struct ClockWatchTests {
    private static let second: Int64 = 1_000_000_000
    private static let interval = second / 4
    private var watch = ClockWatch(interval: interval)

    private func time(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000 * Self.second + Int64((seconds * Double(Self.second)).rounded()))
    }

    @Test
    mutating func `a run is ready when its clock runs, and not before`() {
        #expect(watch.check(wakesAt: nil, at: time(0)) == nil)
        #expect(watch.nextCheck(after: time(0)) == time(0.005))
        #expect(watch.check(wakesAt: nil, at: time(60)) == nil)
        #expect(watch.check(wakesAt: time(61), at: time(60.005)) == .ready)
        // Whoever could not be told is told again.
        #expect(watch.nextCheck(after: time(60.005)) == time(60.01))
        #expect(watch.check(wakesAt: time(61), at: time(60.01)) == .ready)
        watch.isReadyTold = true
        #expect(watch.check(wakesAt: time(61), at: time(60.255)) == .alive)
        #expect(watch.nextCheck(after: time(60.255)) == time(60.505))
    }

    @Test
    mutating func `without a watchdog the watch ends once the clock runs`() {
        watch = ClockWatch(interval: nil)
        #expect(watch.check(wakesAt: nil, at: time(0)) == nil)
        #expect(watch.nextCheck(after: time(0)) != nil)
        #expect(watch.check(wakesAt: time(0), at: time(0)) == .ready)
        watch.isReadyTold = true
        #expect(watch.nextCheck(after: time(0)) == nil)
    }

    @Test
    mutating func `half a second past its own deadline the clock is hung, if a second look confirms it`() {
        watch.isReadyTold = true
        #expect(watch.check(wakesAt: time(1), at: time(1.5)) == .alive)
        let late = time(1.5).advanced(byNanoseconds: 1)
        #expect(watch.check(wakesAt: time(1), at: late) == nil)
        #expect(watch.nextCheck(after: late) == late.advanced(byNanoseconds: ClockWatch.lateInterval))
        #expect(watch.check(wakesAt: time(1), at: time(1.75)) == .hung(overdue: 750_000_000))
        #expect(watch.check(wakesAt: time(3), at: time(2)) == .alive)
    }

    @Test
    mutating func `a clock that goes on after the whole process was stopped is not hung`() {
        watch.isReadyTold = true
        #expect(watch.check(wakesAt: time(0.02), at: time(10)) == nil)
        #expect(watch.check(wakesAt: time(10.02), at: time(10.05)) == .alive)
        #expect(watch.check(wakesAt: time(10.02), at: time(20)) == nil)
    }

    @Test
    mutating func `a clock that hangs in its first turns is not ready`() {
        #expect(watch.check(wakesAt: time(0), at: time(1)) == nil)
        #expect(watch.check(wakesAt: time(0), at: time(1.05)) == .hung(overdue: 1_050_000_000))
        #expect(watch.check(wakesAt: time(2), at: time(1.1)) == .ready)
    }

    /// Plays a minute in which the clock hangs once; returns when the run asks to be restarted.
    private func restart(hangsAt: Double, forSeconds: Double) -> Double? {
        var (watch, now) = (ClockWatch(interval: Self.interval), 0.0)
        watch.isReadyTold = true
        while now < 60 {
            // The clock announces a deadline every 20 ms, as with ticks at 125 BPM.
            let isHanging = now >= hangsAt && now < hangsAt + forSeconds
            let wakesAt = (isHanging ? hangsAt : now) + 0.02
            switch watch.check(wakesAt: time(wakesAt), at: time(now)) {
            case .hung: return now
            case .ready, .alive, nil: break
            }
            now = Double((watch.nextCheck(after: time(now)) ?? time(60)).nanoseconds - time(0).nanoseconds) / 1e9
        }
        return nil
    }

    private static let phases = (0..<25).map { 10 + Double($0) / 100 }

    @Test(arguments: phases)
    func `a run whose clock hangs asks for its restart within 0.85 s`(hangsAt: Double) throws {
        let end = try #require(restart(hangsAt: hangsAt, forSeconds: 30))
        #expect(end > hangsAt + 0.5 && end < hangsAt + 0.85)
    }

    @Test(arguments: phases)
    func `a stall of half a second restarts nothing`(hangsAt: Double) {
        for seconds in [0.1, 0.5] { #expect(restart(hangsAt: hangsAt, forSeconds: seconds) == nil) }
    }
}

@Suite
struct ServiceRequestTests {
    private func request(_ variables: [String: String]) -> ServiceRequest {
        ServiceRequest(process: 42) { variables[$0] }
    }

    @Test
    func `without a manager there is nothing to do`() {
        let request = request([:])
        #expect(request.address == nil && request.interval == nil && request.problems.isEmpty)
    }

    @Test
    func `a report is due four times in the time that the manager waits, and four times a second`() {
        #expect(request(["NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "100000"]).interval == 25_000_000)
        #expect(request(["NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "10000000"]).interval == 250_000_000)
        let request = request([
            "NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "42",
        ])
        #expect(request.address != nil && request.interval == 250_000_000 && request.problems.isEmpty)
    }

    @Test
    func `a watchdog meant for another process, such as the parent, is none`() {
        let request = request(["NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "41"])
        #expect(request.address != nil && request.interval == nil && request.problems.isEmpty)
    }

    @Test
    func `the shortest watchdog does not keep a processor busy`() {
        #expect(request(["NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "1"]).interval == 10_000_000)
    }

    @Test(arguments: [
        "", "@", "/", "run/notify", "vsock:2:1234", "%s", " /run/notify", "/" + String(repeating: "x", count: 107),
        "@" + String(repeating: "\u{e9}", count: 54),
    ])
    func `an address of no use is told`(text: String) {
        let request = request(["NOTIFY_SOCKET": text])
        #expect(request.address == nil && request.problems.count == 1)
    }

    @Test(arguments: ["", "0", "-1", "1s", "1e6", "18446744073709551615", "99999999999999999999", "\u{0}"])
    func `a time of no use is told, and leaves the rest as it is`(text: String) {
        let request = request(["NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": text])
        #expect(request.address != nil && request.interval == nil && request.problems.count == 1)
    }

    @Test
    func `a process number of no use is told, and the clock is reported all the same`() {
        let request = request(["NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "me"])
        #expect(request.interval == 250_000_000 && request.problems.count == 1)
    }

    @Test
    func `a watchdog that cannot be told anything is told of`() {
        #expect(request(["WATCHDOG_USEC": "1000000"]).problems.count == 1)
    }
}

@Suite
struct NotifySocketTests {
    /// A socket at an address, as a service manager has it.
    private func manager(_ address: UnixAddress) throws -> Int32 {
        let descriptor = try checked("socket") {
            socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
        try checked("bind") { address.withPointer { bind(descriptor, $0, $1) } }
        return descriptor
    }

    private func received(_ descriptor: Int32) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: ["/tmp/tactus-notify-\(getpid())", "@tactus-notify-\(getpid())"])
    func `a text arrives at a path and at a name without a file`(text: String) throws {
        let address = try #require(UnixAddress(text))
        let manager = try manager(address)
        defer {
            close(manager)
            unlink(text)
        }
        try NotifySocket(address).send("READY=1\nSTATUS=link, 120 BPM")
        #expect(received(manager) == "READY=1\nSTATUS=link, 120 BPM")
    }

    @Test
    func `a manager that is gone is an error`() throws {
        let address = try #require(UnixAddress("/nonexistent/notify"))
        #expect(throws: SystemCallError.self) { try NotifySocket(address).send("READY=1") }
    }
}
