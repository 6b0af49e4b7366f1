// swift-tools-version: 6.2
import PackageDescription

// Of the gateway only the Link engine is needed here. It is linked in as sources, since a dependency on the whole
// package would fetch its web server first.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "link-trials",
    targets: [
        .target(name: "BeatTime", swiftSettings: strict, linkerSettings: [.linkedLibrary("m")]),
        .target(name: "LinkSession", dependencies: ["BeatTime"], swiftSettings: strict),
        .target(name: "MIDIClock", dependencies: ["BeatTime"], swiftSettings: strict),
        .target(name: "Simulation", dependencies: ["BeatTime", "LinkSession", "MIDIClock"], swiftSettings: strict),
        .executableTarget(
            name: "link-trials", dependencies: ["BeatTime", "LinkSession", "Simulation"], swiftSettings: strict),
    ])
