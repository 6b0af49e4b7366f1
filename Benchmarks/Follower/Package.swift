// swift-tools-version: 6.2
import PackageDescription

// Of the gateway only the parts that compute are needed here. They are linked in as sources, since a dependency on
// the whole package would fetch its web server first.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "follower-benchmark",
    targets: [
        .target(name: "BeatTime", swiftSettings: strict),
        .target(name: "LinkSession", dependencies: ["BeatTime"], swiftSettings: strict),
        .target(name: "MIDIClock", dependencies: ["BeatTime"], swiftSettings: strict),
        .target(name: "Simulation", dependencies: ["BeatTime", "LinkSession", "MIDIClock"], swiftSettings: strict),
        .executableTarget(
            name: "bench-follower", dependencies: ["BeatTime", "MIDIClock", "Simulation"],
            swiftSettings: strict),
    ])
