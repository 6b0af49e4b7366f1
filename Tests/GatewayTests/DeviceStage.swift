import ALSASequencer
import ConfigurationFiles
import Foundation

@testable import Gateway

extension Output {
    /// An output without a sequencer.
    init(_ name: String, _ destination: Destination? = nil, takenIDs: [String] = []) {
        self.init(
            name: name, destination: destination ?? .virtual(name), request: OutputRequest(.name(name)), source: nil,
            takenIDs: takenIDs)
    }
}

extension PortDescription {
    /// A port that sends and receives; belongs to a card if a number is given.
    static func device(
        _ client: Int, _ clientName: String, _ portName: String, port: Int = 0, card: Int? = nil, at place: String = ""
    ) -> PortDescription {
        PortDescription(
            address: PortAddress(client: client, port: port), clientName: clientName, portName: portName,
            isReadable: true, isWritable: true,
            card: card.map { SoundCard(number: $0, id: "card\($0)", place: place) })
    }
}

extension ProfileLibrary {
    /// A library of profiles that are no longer on disk.
    ///
    /// - Parameter profiles: the lines of each below its name, by ID.
    /// - Returns: the library.
    /// - Throws: when one of them is wrong.
    static func of(_ profiles: [String: String]) throws -> ProfileLibrary {
        let path = FileManager.default.temporaryDirectory.appending(path: "tactus-profiles-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        for (id, text) in profiles {
            try "version: 1\nname: \(id)\n\(text)\n".write(
                toFile: "\(path)/\(id).yaml", atomically: false, encoding: .utf8)
        }
        let library = ProfileLibrary(folders: [path])
        guard library.mistakes.isEmpty else { throw Mistakes(library.mistakes) }
        return library
    }
}
