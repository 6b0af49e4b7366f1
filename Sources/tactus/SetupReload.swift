import ConfigurationFiles
import ControlServer
import Essentials
import Gateway

// Reloading a setup while the gateway runs.
extension Setup {
    /// The new configuration, completely or not at all.
    ///
    /// - Parameter started: the setup at the start.
    /// - Returns: the configuration from now on.
    /// - Throws: all mistakes in the configuration file or in any profile.
    func liveConfiguration(since started: Setup) throws(Mistakes) -> LiveConfiguration {
        let mistakes = library.mistakes + vanished(since: started)
        guard mistakes.isEmpty else { throw Mistakes(mistakes) }
        var live = try liveConfiguration()
        live.notices += try waiting(since: started)
        return live
    }

    /// Things that the command line names and that no longer exist.
    private func vanished(since started: Setup) -> [Mistake] {
        let folders = options.profiles.filter { !Files.exists($0) }.map {
            Mistake(
                Place(file: $0, line: 1, column: 1),
                "this folder of --profiles no longer exists; put it back, or restart without it")
        }
        let profiles = options.output.compactMap { output -> Mistake? in
            guard let id = output.profile, (try? library.profile(id: id)) == nil else { return nil }
            let file = (try? started.library.profile(id: id))?.file ?? "\(id).yaml"
            return Mistake(
                Place(file: file, line: 1, column: 1),
                "the profile '\(id)' of an --output no longer exists; put it back, or restart without it")
        }
        return folders + profiles
    }

    /// Changes that take effect only after a restart, with their positions.
    private func waiting(since started: Setup) throws(Mistakes) -> [Notice] {
        var changed: [String] = []
        if try interfaces() != started.interfaces() { changed.append("link: interfaces") }
        if try address() != started.address() || token?.path != started.token?.path || tokenText != started.tokenText {
            changed.append("http")
        }
        if osc != started.osc { changed.append("osc") }
        let names = (started.outputNames, outputNames)
        if options.output.isEmpty, names.1.contains(where: { names.0[$0] != nil && names.0[$0] != $1 }) {
            changed.append("outputs: name")
        }
        if logLevel != started.logLevel || logFormat != started.logFormat { changed.append("log") }
        let notices = changed.map(Notice.restartNeeded)
        return path == started.path ? notices : notices + [.configurationMoved(from: started.path, to: path)]
    }

    private var tokenText: String? { try? token?.token.get().text }

    /// What the file calls its outputs, by their ports; empty for the port's own name.
    private var outputNames: [String: String] {
        Dictionary(file.outputs.map { ($0.port.value, $0.name?.value ?? "") }) { $1 }
    }

    /// The file's settings for Open Sound Control.
    private var osc: [String?] {
        [file.osc.isEnabled.map { "\($0)" }, file.osc.address?.value, file.osc.port.map { "\($0.value)" }]
    }
}
