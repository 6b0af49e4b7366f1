// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// One of our own Swift targets; `uses` are our own targets below it, so arrows point one way.
func part(
    _ name: String, uses: [String] = [], products: [Target.Dependency] = [], resources: [Resource] = [],
    linking: [String] = [], plugins: [Target.PluginUsage] = []
) -> Target {
    .target(
        name: name, dependencies: uses.map { .byName(name: $0) } + products, resources: resources,
        swiftSettings: strict, linkerSettings: linking.map { .linkedLibrary($0) }, plugins: plugins)
}

func tests(
    of name: String, uses: [String] = [], products: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: ([name] + uses).map { .byName(name: $0) } + products,
        exclude: exclude, swiftSettings: strict)
}

/// The commit being built, for `--version`; nil outside of a Git repository, such as in a tarball.
let commit = Context.gitInformation.map { git in
    git.currentCommit.prefix(8) + (git.hasUncommittedChanges ? "-changed" : "")
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
    name: "tactus",
    // No product but the libraries: what the program needs, HTTP among it, would be fetched by each package that uses them.
    products: [
        .library(name: "Link", targets: ["LinkNetwork", "LinkSession", "BeatTime", "RealTime"]),
        .library(name: "MIDIClock", targets: ["MIDIClock", "BeatTime"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        // No traits: one would bring in all of Foundation and its 34 MB of tables, the other a second configuration.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // Hummingbird's own foundations; limits on connections are stated in their types, and commands ask with them.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        .systemLibrary(name: "CLO", pkgConfig: "liblo", providers: [.apt(["liblo-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        // No pkgConfig: it would be linked. SoundFile loads it when a recording is read.
        .systemLibrary(name: "CSndFile", providers: [.apt(["libsndfile1-dev"])]),
        .target(name: "CLinux"),
        .target(name: "CSystemd"),
        // By itself, so that a new commit has little compiled anew.
        .target(name: "CCommit", cSettings: commit.map { [.define("COMMIT", to: String($0))] } ?? []),
        .plugin(name: "EmbedProfiles", capability: .buildTool(), path: "Packaging/EmbedProfiles"),
        .plugin(
            name: "ExtractExamples", capability: .buildTool(), path: "Tests/ExtractExamples"),
        part("BeatTime", linking: ["m"]),
        part("RealTime", uses: ["BeatTime", "CLinux"]),
        // What Foundation would be for: it is the one user of FoundationEssentials, for its JSON coders. All of Foundation
        // comes with 34 MB of tables.
        part("Essentials", uses: ["RealTime"]),
        part("LinkSession", uses: ["BeatTime"]),
        part("LinkNetwork", uses: ["BeatTime", "RealTime", "LinkSession", "CLinux"]),
        part("MIDIClock", uses: ["BeatTime"]),
        part("TimeCode", uses: ["BeatTime"]),
        part("CardClock", uses: ["BeatTime"]),
        part("Pulses", uses: ["BeatTime", "CardClock", "MIDIClock"]),
        part("GatewayStatus"),
        part("LoopGuard", uses: ["BeatTime", "MIDIClock"]),
        part("Arbiter", uses: ["BeatTime", "LinkSession", "MIDIClock", "LoopGuard"]),
        part(
            "ConfigurationFiles",
            uses: ["BeatTime", "RealTime", "Essentials", "MIDIClock", "TimeCode", "Pulses", "CYAML", "CLinux"],
            plugins: ["EmbedProfiles"]),
        part("ClockMeter", uses: ["BeatTime", "MIDIClock"]),
        part("OnsetDetection"),
        part("QRCode"),
        part("SoundCalibration", uses: ["BeatTime", "MIDIClock", "OnsetDetection"]),
        part("SoundFile", uses: ["CSndFile"]),
        part("ALSASequencer", uses: ["CALSA", "BeatTime", "RealTime", "Essentials", "MIDIClock", "TimeCode"]),
        part("SoundCards", uses: ["CALSA", "ALSASequencer"]),
        part("AudioCapture", uses: ["CALSA", "ALSASequencer", "OnsetDetection", "RealTime", "SoundCards"]),
        part(
            "Doctor",
            uses: [
                "BeatTime", "RealTime", "DBus", "Essentials", "LinkSession", "LinkNetwork", "ALSASequencer",
                "CLinux",
            ]),
        part("ClockDispatch", uses: ["BeatTime", "RealTime", "MIDIClock", "TimeCode", "ALSASequencer"]),
        part(
            "CardOutput",
            uses: [
                "ALSASequencer", "BeatTime", "CALSA", "CardClock", "ClockDispatch", "DBus", "MIDIClock", "Pulses",
                "RealTime", "SoundCards",
            ]),
        part(
            "Gateway",
            uses: [
                "CardOutput", "Pulses",
                "BeatTime", "RealTime", "Essentials", "LinkSession", "LinkNetwork", "MIDIClock", "LoopGuard",
                "TimeCode", "GatewayStatus", "Arbiter", "ConfigurationFiles", "ClockDispatch", "ALSASequencer",
                "CLinux",
            ],
            products: [logging]),
        part(
            "Listening",
            uses: [
                "ALSASequencer", "AudioCapture", "BeatTime", "CardOutput", "ClockDispatch", "Essentials", "Gateway",
                "GatewayStatus", "MIDIClock",
                "OnsetDetection", "RealTime", "SoundCalibration", "SoundCards",
            ]),
        part("OpenSoundControl", uses: ["CLO"]),
        part("DBus", uses: ["CSystemd", "RealTime"]),
        part(
            "PlainHTTP",
            products: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ]),
        part(
            "ControlServer",
            uses: [
                "AudioCapture", "SoundCards", "Gateway", "GatewayStatus", "Listening", "OpenSoundControl", "MIDIClock",
                "QRCode",
                "Essentials", "BeatTime",
            ],
            products: [
                logging,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ],
            // Compiled in: one file is to be installed, and nothing beside it.
            resources: [
                "Panel/panel.html", "Panel/panel.css", "Panel/gateway.js", "Panel/beats.js", "Panel/outputs.js",
                "Panel/follow.js", "Panel/listen.js", "Panel/session.js", "Panel/panel.js",
                "Panel/stage.css", "Panel/stage.js", "Panel/lock.js", "Panel/notices.js", "Panel/share.js",
                "Panel/manifest.webmanifest", "Panel/icon.svg", "Panel/icon.png",
                "openapi.yaml",  // a link to the file in docs
            ].map { .embedInCode($0) }),
        .executableTarget(
            name: "tactus",
            dependencies: [
                "Gateway", "GatewayStatus", "CardOutput", "ClockDispatch", "ControlServer", "ClockMeter",
                "ConfigurationFiles",
                "DBus", "Doctor", "MIDIClock", "TimeCode", "ALSASequencer", "AudioCapture", "Listening",
                "OnsetDetection", "Pulses", "SoundCards",
                "SoundCalibration", "SoundFile", "PlainHTTP", "QRCode", "Essentials", "RealTime",
                "BeatTime",
                "CCommit", "CLinux",
                logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "link-probe", dependencies: ["LinkNetwork", "LinkSession", "BeatTime", "RealTime"],
            path: "Tests/LinkProbe", swiftSettings: strict),
        .executableTarget(
            name: "metronome", dependencies: ["LinkNetwork", "LinkSession", "BeatTime", "RealTime"],
            path: "Examples/Metronome", swiftSettings: strict),
        .executableTarget(
            name: "clock-list", dependencies: ["MIDIClock", "BeatTime"], path: "Examples/ClockList",
            swiftSettings: strict),
        .target(
            name: "TestVectors", dependencies: ["BeatTime"], path: "Tests/TestVectors",
            resources: [.copy("link-test-vectors.json")], swiftSettings: strict),
        .target(
            name: "Simulation", dependencies: ["BeatTime", "LinkSession", "MIDIClock"], path: "Tests/Simulation",
            swiftSettings: strict),
        .target(
            name: "HostileInput", dependencies: ["ConfigurationFiles", "OpenSoundControl", "Simulation"],
            path: "Tests/HostileInput", swiftSettings: strict),
        .target(
            name: "SoundTrials",
            dependencies: ["BeatTime", "MIDIClock", "OnsetDetection", "Simulation", "SoundCalibration"],
            path: "Tests/SoundTrials", swiftSettings: strict),
        .executableTarget(
            name: "clock-probe", dependencies: ["ALSASequencer", "BeatTime", "Essentials", "MIDIClock", "RealTime"],
            path: "Tests/ClockProbe", swiftSettings: strict),
        tests(of: "BeatTime", uses: ["TestVectors"]),
        tests(of: "LinkSession", uses: ["BeatTime", "Simulation", "TestVectors"]),
        tests(of: "LinkNetwork", uses: ["BeatTime", "LinkSession", "RealTime"]),
        tests(of: "RealTime", uses: ["BeatTime"]),
        tests(of: "Essentials"),
        tests(of: "ALSASequencer"),
        tests(of: "OnsetDetection", uses: ["Simulation"]),
        tests(of: "QRCode"),
        tests(of: "AudioCapture"),
        tests(of: "SoundCards", uses: ["CALSA"]),
        tests(
            of: "CardOutput",
            uses: [
                "ALSASequencer", "BeatTime", "CardClock", "ClockDispatch", "DBus", "MIDIClock", "Pulses", "RealTime",
                "Simulation",
            ]),
        tests(
            of: "SoundCalibration", uses: ["BeatTime", "MIDIClock", "OnsetDetection", "Simulation", "SoundTrials"]),
        tests(
            of: "Listening",
            uses: [
                "ALSASequencer", "AudioCapture", "BeatTime", "CardOutput", "ClockDispatch", "Gateway", "GatewayStatus",
                "MIDIClock", "SoundCalibration",
            ]),
        tests(of: "Doctor", uses: ["Simulation"]),
        tests(
            of: "Gateway",
            uses: [
                "ALSASequencer", "Arbiter", "BeatTime", "CardOutput", "ClockDispatch", "ConfigurationFiles",
                "Essentials",
                "GatewayStatus",
                "LinkNetwork", "LinkSession", "MIDIClock", "RealTime", "Simulation", "TimeCode",
            ],
            products: [logging]),
        tests(
            of: "ClockDispatch",
            uses: ["ALSASequencer", "BeatTime", "MIDIClock", "RealTime", "Simulation", "TimeCode"]),
        tests(of: "ClockMeter", uses: ["BeatTime", "MIDIClock", "Simulation"]),
        tests(of: "MIDIClock", uses: ["BeatTime", "Simulation"]),
        tests(of: "TimeCode", uses: ["BeatTime"]),
        tests(of: "CardClock", uses: ["Simulation"]),
        tests(of: "Pulses", uses: ["BeatTime", "CardClock", "MIDIClock", "Simulation"]),
        tests(
            of: "ConfigurationFiles", uses: ["BeatTime", "HostileInput", "MIDIClock", "Simulation"], exclude: ["Corpus"]
        ),
        tests(of: "HostileInput", uses: ["BeatTime", "LinkSession", "Simulation"], exclude: ["Corpus"]),
        tests(of: "LoopGuard", uses: ["BeatTime", "MIDIClock", "Simulation"]),
        tests(
            of: "Arbiter", uses: ["BeatTime", "LinkSession", "MIDIClock", "Simulation"]),
        tests(of: "OpenSoundControl", uses: ["Simulation"]),
        tests(of: "DBus"),
        tests(
            of: "PlainHTTP",
            products: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        tests(
            of: "ControlServer",
            uses: [
                "ALSASequencer",
                "AudioCapture", "BeatTime", "Essentials", "Gateway", "GatewayStatus", "Listening", "OnsetDetection",
                "OpenSoundControl", "PlainHTTP",
            ],
            products: [
                logging,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ]),
        tests(
            of: "tactus",
            uses: [
                "ALSASequencer", "BeatTime", "ClockDispatch", "ClockMeter", "ConfigurationFiles", "ControlServer",
                "DBus", "Doctor", "Essentials", "Gateway", "GatewayStatus", "Listening", "MIDIClock", "RealTime",
                "Simulation", "SoundCalibration",
            ],
            products: [logging, .product(name: "ArgumentParser", package: "swift-argument-parser")]),
        .testTarget(name: "ArchitectureTests", swiftSettings: strict),
        // The examples in the libraries' documentation, compiled as a user's program is: with what is public.
        .testTarget(
            name: "ExampleTests", dependencies: ["BeatTime", "LinkNetwork", "LinkSession", "MIDIClock", "RealTime"],
            packageAccess: false, swiftSettings: strict, plugins: ["ExtractExamples"]),
    ],
)

// In tests that simulate nothing, optimising takes longer than it saves.
let simulated: Set = [
    "Arbiter", "BeatTime", "CardClock", "CardOutput", "ClockDispatch", "ClockMeter", "ConfigurationFiles", "Gateway",
    "HostileInput",
    "LinkSession",
    "Listening", "LoopGuard", "MIDIClock", "OnsetDetection", "Pulses", "SoundCalibration",
]
for target in package.targets
where target.type == .test && !simulated.contains(target.name.replacing("Tests", with: "")) {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
}

// `make` runs the tests with the release configuration, in which Swift's runtime is linked into the program under test as
// into the one that is installed; only `make` asks for it, as no other package may depend on one with such flags. The two
// libraries are FoundationEssentials' own, which the linker is told of only if everything is compiled for static linking.
if Context.environment["TACTUS_STATIC"] != nil {
    for target in package.targets where target.type == .executable {
        target.linkerSettings = [.unsafeFlags(["-static-stdlib", "-l_FoundationCShims", "-l_FoundationCollections"])]
    }
}
