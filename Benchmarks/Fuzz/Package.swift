// swift-tools-version: 6.2
import PackageDescription

// Everything is built to be watched by the compiler's fuzzer, which learns from what the code did with one input what to
// try next. What it tries is linked in as sources, since a dependency on the whole package would fetch its web server.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .unsafeFlags(["-sanitize=fuzzer"]),
]

func part(
    _ name: String, uses: [String] = [], linking: [String] = [], plugins: [Target.PluginUsage] = []
) -> Target {
    .target(
        name: name, dependencies: uses.map { .byName(name: $0) }, swiftSettings: strict,
        linkerSettings: linking.map { .linkedLibrary($0) }, plugins: plugins)
}

let package = Package(
    name: "fuzz",
    targets: [
        .systemLibrary(name: "CLO", pkgConfig: "liblo"),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1"),
        .target(name: "CLinux"),
        .target(name: "CFuzzer"),
        .plugin(name: "EmbedProfiles", capability: .buildTool(), path: "Packaging/EmbedProfiles"),
        part("BeatTime", linking: ["m"]),
        part("RealTime", uses: ["BeatTime", "CLinux"]),
        part("Essentials", uses: ["RealTime"]),
        part("LinkSession", uses: ["BeatTime"]),
        part("MIDIClock", uses: ["BeatTime"]),
        part(
            "ConfigurationFiles", uses: ["BeatTime", "RealTime", "Essentials", "MIDIClock", "CYAML"],
            plugins: ["EmbedProfiles"]),
        part("OpenSoundControl", uses: ["CLO"]),
        part("Simulation", uses: ["BeatTime", "LinkSession", "MIDIClock"]),
        part("HostileInput", uses: ["ConfigurationFiles", "OpenSoundControl", "Simulation"]),
        .executableTarget(
            name: "fuzz", dependencies: ["HostileInput", "CFuzzer"], swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),
    ])
