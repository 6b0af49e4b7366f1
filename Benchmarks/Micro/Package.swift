// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who only builds Tactus builds the benchmark library, with the engines' sources
// linked into it, so that it can measure what they keep to themselves.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "micro",
    dependencies: [
        // Without its default trait it needs no other allocator installed.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: [])
    ],
    targets: [
        .target(name: "BeatTime", swiftSettings: strict),
        .target(name: "LinkSession", dependencies: ["BeatTime"], swiftSettings: strict),
        .target(name: "MIDIClock", dependencies: ["BeatTime"], swiftSettings: strict),
        .executableTarget(
            name: "Micro",
            dependencies: [
                "BeatTime", "LinkSession", "MIDIClock", .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Micro", swiftSettings: strict,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ])
