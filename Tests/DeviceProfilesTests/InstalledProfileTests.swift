import DeviceProfiles
import Foundation
import MIDIClock
import Testing

/// The profiles that come with the program.
@Suite struct InstalledProfileTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Profiles").standardized.path()

    private let library = ProfileLibrary(folders: [Self.folder])

    @Test func `every profile can be read`() throws {
        #expect(library.mistakes.map(\.description) == [])
        #expect(library.profiles.count >= 35)
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder).filter { $0.hasSuffix(".yaml") }
        #expect(files.count == library.profiles.count)
    }

    @Test func `no two profiles have the same name or claim the same port`() {
        let names = library.profiles.map { $0.name.lowercased() }
        #expect(Set(names).count == names.count)
        let matches = library.profiles.flatMap(\.match).map { $0.lowercased() }
        #expect(Set(matches).count == matches.count)
        #expect(!library.warnings.contains { $0.contains("is matched by") })
    }

    @Test func `profiles are named in small letters, digits and hyphens`() {
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-")
        for profile in library.profiles { #expect(letters.isSuperset(of: profile.id), "\(profile.id)") }
    }

    @Test func `every profile says what is known and from where`() {
        for profile in library.profiles {
            #expect(!profile.notes.isEmpty, "\(profile.id)")
            #expect(profile.notes.allSatisfy { !$0.source.isEmpty }, "\(profile.id)")
        }
    }

    @Test func `every profile that asks for something special knows why`() {
        for profile in library.profiles {
            let isSpecial = profile.settings != OutputSettings() || profile.input != Profile.Input()
            #expect(!isSpecial || !profile.notes.isEmpty, "\(profile.id)")
        }
    }

    @Test func `what users choose by hand is there`() throws {
        for id in ["generic", "generic-clock-only"] { _ = try library.profile(id: id) }
        #expect(try library.profile(id: "generic").settings == OutputSettings())
    }
}
