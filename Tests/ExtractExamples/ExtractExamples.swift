import Foundation
import PackagePlugin

/// Turns the examples in the documentation of a test target's dependencies into tests of that target.
@main
struct ExtractExamples: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let modules = target.dependencies.compactMap { dependency -> (any SourceModuleTarget)? in
            if case .target(let target) = dependency { target.sourceModule } else { nil }
        }
        let script = context.package.directoryURL.appending(path: "Tests/ExtractExamples/extract-examples")
        return modules.map { module in
            let sources = module.sourceFiles(withSuffix: "swift").map(\.url)
                .sorted { $0.path < $1.path }
            let output = context.pluginWorkDirectoryURL.appending(path: "\(module.name)Examples.swift")
            return .buildCommand(
                displayName: "Extracting the examples of \(module.name)", executable: URL(filePath: "/bin/sh"),
                arguments: [script.path, output.path, module.name] + sources.map(\.path),
                inputFiles: [script] + sources, outputFiles: [output])
        }
    }
}
