import Essentials
import Gateway
import GatewayStatus
import Glibc
import Logging
import Synchronization
import Testing

@testable import ControlServer
@testable import tactus

/// What is told of the gateway's own addresses.
@Suite
struct ServedAddressesTests {
    private static let wired = MachineAddress(text: "192.168.7.2", interface: 2)

    /// Keeps the lines logged.
    private final class Lines: LogHandler, Sendable {
        let all = Mutex<[String]>([])
        var metadata: Logger.Metadata {
            get { [:] }
            set {}
        }
        var logLevel: Logger.Level {
            get { .trace }
            set {}
        }
        subscript(metadataKey _: String) -> Logger.Metadata.Value? {
            get { nil }
            set {}
        }

        func log(event: LogEvent) { all.withLock { $0.append("\(event.level) \(event.message)") } }
    }

    private func place(_ address: String) throws -> ServedAddresses.Place {
        .init(name: "the panel", address: try #require(HTTPAddress(address)), setting: "--http") { nil }
    }

    @Test
    func `an address that is away is warned of with the fix, and logged once as it goes and comes`() throws {
        let local = Mutex([Self.wired])
        let lines = Lines()
        let addresses = ServedAddresses(
            [try place("10.0.0.5:8808")], local: { local.withLock(\.self) }, log: Logger(label: "test") { _ in lines })
        for _ in 0..<3 { addresses.look() }
        let warning = try #require(addresses.notices.first)
        #expect(warning.code == "address-away")
        #expect(
            warning.message
                == "the panel cannot be reached, because this machine does not have the address 10.0.0.5 now")
        #expect(warning.fix.contains("connect its network") && warning.fix.contains("--http"))
        local.withLock { $0.append(MachineAddress(text: "10.0.0.5", interface: 3)) }
        for _ in 0..<3 { addresses.look() }
        #expect(addresses.notices.isEmpty)
        #expect(
            lines.all.withLock(\.self) == [
                "warning \(warning.message)", "notice all addresses of this gateway are there",
            ])
    }

    @Test(arguments: ["127.0.0.1:8808", "[::1]:8808", "0.0.0.0:8808", "[::]:8808", "192.168.7.2:8808"])
    func `an address that is there, or cannot go, is no matter`(address: String) throws {
        let addresses = ServedAddresses(
            [try place(address)], local: { [Self.wired] }, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        #expect(addresses.notices.isEmpty)
    }

    @Test
    func `an address that another program took meanwhile is told with that program`() throws {
        let address = try #require(HTTPAddress("127.0.0.1:8808"))
        var trouble = ListenError(address, code: EADDRINUSE, .tcp)
        trouble.holders = "nginx (process 812)"
        let place = ServedAddresses.Place(name: "the panel", address: address, setting: "--http") { [trouble] in trouble
        }
        let warning = place.notice { [] }
        #expect(warning?.message == "the panel cannot be reached: 127.0.0.1:8808 is taken by nginx (process 812)")
    }
}
