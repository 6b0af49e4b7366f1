import Foundation
import PackagePlugin

/// Builds the files of the folder `Profiles` into the target that uses this plugin.
@main
struct EmbedProfiles: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.package.directoryURL.appending(path: "Profiles")
        let profiles = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "yaml" }
            .sorted { $0.deletingPathExtension().path < $1.deletingPathExtension().path }
        let script = context.package.directoryURL.appending(path: "Packaging/embed-profiles")
        let output = context.pluginWorkDirectoryURL.appending(path: "BuiltInProfiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding \(profiles.count) profiles", executable: URL(filePath: "/bin/sh"),
                arguments: [script.path, output.path] + profiles.map(\.path), inputFiles: [script] + profiles,
                outputFiles: [output])
        ]
    }
}
