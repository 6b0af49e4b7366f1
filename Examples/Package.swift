// swift-tools-version: 6.2
import PackageDescription

// A package that uses the libraries, as one of yours would; nothing of the gateway, and no other package, is fetched for
// it. Yours says `.package(url: "URL", from: "0.2.0")`, where URL is that of the repository.
let package = Package(
    name: "examples",
    dependencies: [.package(name: "tactus", path: "..")],
    targets: [
        .executableTarget(
            name: "metronome", dependencies: [.product(name: "Link", package: "tactus")], path: "Metronome"),
        .executableTarget(
            name: "clock-list", dependencies: [.product(name: "MIDIClock", package: "tactus")], path: "ClockList"),
    ]
)
