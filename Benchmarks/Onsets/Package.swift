// swift-tools-version: 6.2
import PackageDescription

// As in Benchmarks/Follower: the parts that compute are linked in as sources.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "onset-benchmark",
    targets: [
        .target(name: "BeatTime", swiftSettings: strict),
        .target(name: "LinkSession", dependencies: ["BeatTime"], swiftSettings: strict),
        .target(name: "MIDIClock", dependencies: ["BeatTime"], swiftSettings: strict),
        .target(name: "Simulation", dependencies: ["BeatTime", "LinkSession", "MIDIClock"], swiftSettings: strict),
        .target(name: "OnsetDetection", swiftSettings: strict),
        .target(
            name: "SoundCalibration", dependencies: ["BeatTime", "MIDIClock", "OnsetDetection"], swiftSettings: strict),
        .target(
            name: "SoundTrials",
            dependencies: ["BeatTime", "MIDIClock", "OnsetDetection", "Simulation", "SoundCalibration"],
            swiftSettings: strict),
        .executableTarget(name: "listen-trials", dependencies: ["SoundTrials"], swiftSettings: strict),
        .executableTarget(
            name: "bench-onsets", dependencies: ["OnsetDetection", "Simulation"], swiftSettings: strict),
    ])
