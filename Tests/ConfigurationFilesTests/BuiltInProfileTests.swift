import ConfigurationFiles
import MIDIClock
import Testing

/// The profiles that are built into the program.
@Suite struct BuiltInProfileTests {
    private let library = ProfileLibrary(builtIn: BuiltInProfile.all, folders: [])

    @Test func `every profile can be read`() throws {
        #expect(library.mistakes.map(\.description) == [])
        #expect(library.profiles.count >= 35)
        #expect(library.profiles.map(\.id) == BuiltInProfile.all.map(\.id))
        #expect(library.profiles.allSatisfy { $0.file == nil })
    }

    @Test func `the built-in profiles equal the folder of profiles, byte for byte`() throws {
        let folder = "\(Folder.project)/Profiles"
        let names = try Folder.names(in: folder).filter { $0.hasSuffix(".yaml") }
        #expect(BuiltInProfile.all.map(\.id) == names.map { String($0.dropLast(5)) }.sorted())
        for profile in BuiltInProfile.all {
            #expect(try profile.text == Folder.read("\(folder)/\(profile.id).yaml"), "\(profile.id)")
        }
    }

    @Test func `no two profiles have the same name or claim the same port`() {
        let names = library.profiles.map { $0.name.lowercased() }
        #expect(Set(names).count == names.count)
        let matches = library.profiles.flatMap(\.match).map { $0.lowercased() }
        #expect(Set(matches).count == matches.count)
        #expect(!library.warnings.contains { $0.contains("both match") })
    }

    @Test func `profile names consist of lower-case letters, digits and hyphens`() {
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-")
        for profile in library.profiles { #expect(letters.isSuperset(of: profile.id), "\(profile.id)") }
    }

    @Test func `every profile has facts with sources`() {
        for profile in library.profiles {
            #expect(!profile.notes.isEmpty, "\(profile.id)")
            #expect(profile.notes.allSatisfy { !$0.source.isEmpty }, "\(profile.id)")
        }
    }

    @Test func `every profile with special settings has a fact that explains them`() {
        for profile in library.profiles {
            let isSpecial = profile.settings != OutputSettings() || profile.input != Profile.Input()
            #expect(!isSpecial || !profile.notes.isEmpty, "\(profile.id)")
        }
    }

    @Test func `profiles that users choose by hand exist`() throws {
        for id in ["generic", "generic-clock-only"] { _ = try library.profile(id: id) }
        #expect(try library.profile(id: "generic").settings == OutputSettings())
    }
}
