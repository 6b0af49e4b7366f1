// swift-tools-version: 6.2
import PackageDescription

// Of the gateway only the Link engine is needed here. It is linked in as sources, since a dependency on the whole
// package would fetch its web server first.
//
// With FUZZ=1 in the environment everything is built to be watched by the fuzzer, which learns from what the code did
// with one input what to try next.
let isFuzzing = Context.environment["FUZZ"] != nil

let strict: [SwiftSetting] =
    [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])

let package = Package(
    name: "link-trials",
    targets: [
        .target(name: "BeatTime", swiftSettings: strict, linkerSettings: [.linkedLibrary("m")]),
        .target(name: "LinkSession", dependencies: ["BeatTime"], swiftSettings: strict),
        .target(name: "MIDIClock", dependencies: ["BeatTime"], swiftSettings: strict),
        .target(name: "Simulation", dependencies: ["BeatTime", "LinkSession", "MIDIClock"], swiftSettings: strict),
        .executableTarget(
            name: "link-trials", dependencies: ["BeatTime", "LinkSession", "Simulation"], swiftSettings: strict),
    ]
        + (isFuzzing
            ? [
                .target(name: "CFuzzer"),
                .executableTarget(
                    name: "link-fuzz", dependencies: ["Simulation", "CFuzzer"], swiftSettings: strict,
                    linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),
            ] : []))
