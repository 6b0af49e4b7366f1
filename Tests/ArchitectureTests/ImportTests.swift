import Foundation
import Testing

/// The shape of the whole, checked on the sources: pure engines in the middle, arrows in one direction.
@Suite
struct ImportTests {
    /// What each part may import besides the standard library.
    private static let allowed: [String: Set<String>] = {
        let system: Set<String> = ["Glibc", "Synchronization", "Logging"]
        return [
            "BeatTime": [],
            "LinkSession": ["BeatTime"],
            "MIDIClock": ["BeatTime"],
            "TimeCode": ["BeatTime"],
            "CardClock": ["BeatTime"],
            "Pulses": ["BeatTime", "CardClock", "MIDIClock", "Glibc"],  // sine, cosine and the exponential
            "ClockMeter": ["BeatTime", "MIDIClock"],
            "GatewayStatus": [],
            "LoopGuard": ["BeatTime", "MIDIClock"],
            "Arbiter": ["BeatTime", "LinkSession", "MIDIClock", "LoopGuard"],
            "ConfigurationFiles": [
                "BeatTime", "RealTime", "Essentials", "MIDIClock", "TimeCode", "Pulses", "CYAML", "CLinux", "Glibc",
            ],
            "RealTime": ["BeatTime", "CLinux", "Glibc", "Synchronization"],
            "Essentials": ["RealTime", "Glibc", "FoundationEssentials"],
            "LinkNetwork": ["BeatTime", "RealTime", "LinkSession", "CLinux", "Glibc", "Synchronization"],
            "OnsetDetection": ["Glibc"],  // sine and cosine
            "SoundCalibration": ["BeatTime", "MIDIClock", "OnsetDetection", "Glibc"],  // a logarithm
            "SoundFile": ["CSndFile", "Glibc"],
            "ALSASequencer": [
                "BeatTime", "RealTime", "Essentials", "MIDIClock", "TimeCode", "CALSA", "Glibc", "Synchronization",
            ],
            "SoundCards": ["ALSASequencer", "CALSA", "Glibc"],
            "AudioCapture": [
                "RealTime", "OnsetDetection", "ALSASequencer", "SoundCards", "CALSA", "Glibc", "Synchronization",
            ],
            "CardOutput": [
                "BeatTime", "RealTime", "MIDIClock", "CardClock", "Pulses", "ClockDispatch", "ALSASequencer",
                "SoundCards", "DBus",
                "CALSA", "Glibc", "Synchronization",
            ],
            "Doctor": [
                "BeatTime", "RealTime", "DBus", "Essentials", "LinkSession", "LinkNetwork", "ALSASequencer",
                "CLinux", "Glibc",
            ],
            "Doctor/Facts": [],
            "Doctor/Judgement": [],
            "ClockDispatch": [
                "BeatTime", "RealTime", "MIDIClock", "TimeCode", "ALSASequencer", "Glibc", "Synchronization",
            ],
            "Gateway": system.union([
                "BeatTime", "RealTime", "Essentials", "LinkSession", "LinkNetwork", "MIDIClock", "TimeCode",
                "LoopGuard",
                "GatewayStatus", "Arbiter", "ConfigurationFiles", "ClockDispatch", "ALSASequencer", "CLinux",
                "CardOutput", "Pulses",
            ]),
            "Listening": [
                "BeatTime", "MIDIClock", "Essentials", "ALSASequencer", "AudioCapture", "SoundCards", "OnsetDetection",
                "SoundCalibration", "RealTime", "GatewayStatus", "Gateway", "Glibc", "Synchronization", "CardOutput",
                "ClockDispatch",
            ],
            "DBus": ["CSystemd", "RealTime", "Glibc"],
            "OpenSoundControl": ["CLO"],
            "QRCode": [],
            "PlainHTTP": [
                "HTTPTypes", "NIOCore", "NIOHTTP1", "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "NIOPosix", "Glibc",
            ],
            "ControlServer": system.union([
                "BeatTime", "MIDIClock", "Essentials", "GatewayStatus", "Gateway", "Listening", "AudioCapture",
                "SoundCards",
                "OpenSoundControl", "QRCode", "RealTime", "Hummingbird",
                "HummingbirdCore", "ServiceLifecycle", "NIOCore", "NIOPosix", "NIOHTTP1", "NIOHTTPTypes",
                "NIOHTTPTypesHTTP1", "HTTPTypes",
            ]),
        ]
    }()

    private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources").standardized

    @Test(arguments: allowed.keys.sorted())
    func `a part imports only what stands below it`(part: String) throws {
        let folder = Self.sources.appending(path: part)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path()).filter { $0.hasSuffix(".swift") }
        try #require(!names.isEmpty)
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let index = words.firstIndex(of: "import"), index <= 1, words.count > index + 1 else { continue }
                let module = String(words.last?.split(separator: ".").first ?? "")
                #expect(Self.allowed[part]?.contains(module) == true, "\(part)/\(name) imports \(module)")
            }
        }
    }

    @Test
    func `every folder of the sources is accounted for`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path())
        let parts = Self.allowed.keys.filter { !$0.contains("/") }
        let shims = ["CALSA", "CLO", "CSndFile", "CYAML", "CCommit", "CLinux", "CSystemd"]
        #expect(Set(folders) == Set(parts).union(shims + ["tactus"]))
    }
}
