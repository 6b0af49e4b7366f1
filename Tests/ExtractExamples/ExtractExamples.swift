import Foundation
import PackagePlugin

/// Turns the examples in the documentation of a test target's dependencies into tests of that target.
@main
struct ExtractExamples: BuildToolPlugin {
    /// Modules whose articles turn Link on, which no test may; only their comments have tests.
    private static let unheard: Set = ["LinkNetwork"]

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let modules = target.dependencies.compactMap { dependency -> (any SourceModuleTarget)? in
            if case .target(let target) = dependency { target.sourceModule } else { nil }
        }
        let script = context.package.directoryURL.appending(path: "Tests/ExtractExamples/extract-examples")
        return try modules.map { module in
            let comments = module.sourceFiles(withSuffix: "swift").map(\.url)
            let articles = Self.unheard.contains(module.name) ? [] : try articles(of: module)
            let sources = (comments + articles).sorted { $0.path < $1.path }
            let output = context.pluginWorkDirectoryURL.appending(path: "\(module.name)Examples.swift")
            return .buildCommand(
                displayName: "Extracting the examples of \(module.name)", executable: URL(filePath: "/bin/sh"),
                arguments: [script.path, output.path, module.name] + sources.map(\.path),
                inputFiles: [script] + sources, outputFiles: [output])
        }
    }

    /// The articles in the documentation catalog of a module, if it has one.
    private func articles(of module: any SourceModuleTarget) throws -> [URL] {
        let catalog = module.directoryURL.appending(path: "\(module.name).docc")
        guard FileManager.default.fileExists(atPath: catalog.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: catalog, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "md" }
    }
}
