import ConfigurationFiles
import Glibc
import Testing

@Suite struct ExportTests {
    private let names = BuiltInProfile.all.map { "\($0.id).yaml" }.sorted()

    @Test func `every built-in profile is exported with equal contents`() throws {
        let folder = try Folder()
        #expect(try BuiltInProfile.export(to: "\(folder.root)/new") == names.count)
        #expect(try Folder.names(in: "\(folder.root)/new") == names)
        let library = folder.library("new")
        #expect(library.mistakes.isEmpty)
        for profile in BuiltInProfile.all {
            #expect(try Folder.read("\(folder.root)/new/\(profile.id).yaml") == profile.text)
        }
    }

    @Test func `an existing file with equal contents is left alone`() throws {
        let folder = try Folder()
        _ = try BuiltInProfile.export(to: folder.root)
        try #require(unlink("\(folder.root)/generic.yaml") == 0)
        try folder.write("mine.yaml", "version: 1")
        #expect(try BuiltInProfile.export(to: folder.root) == 1)
        #expect(try BuiltInProfile.export(to: folder.root) == 0)
        #expect(try Folder.names(in: folder.root) == (names + ["mine.yaml"]).sorted())
    }

    @Test func `if a file differs, it is kept and nothing is written`() throws {
        let folder = try Folder()
        try folder.write("generic.yaml", "version: 1\nname: Mine\n")
        #expect(throws: ExportError.self) { try BuiltInProfile.export(to: folder.root) }
        #expect(try Folder.names(in: folder.root) == ["generic.yaml"])
        #expect(try Folder.read("\(folder.root)/generic.yaml") == "version: 1\nname: Mine\n")
        #expect(
            refusal(to: folder.root)
                == "nothing is written: generic.yaml in \(folder.root) differs from what would be written; "
                + "name an empty folder")
        for name in ["korg-volca.yaml", "roland-tb-303.yaml", "roland-tr-8s.yaml", "waldorf-blofeld.yaml"] {
            try folder.write(name, "")
        }
        #expect(
            refusal(to: folder.root)?.hasPrefix(
                "nothing is written: generic.yaml, korg-volca.yaml, roland-tb-303.yaml and 2 more in ") == true)
    }

    @Test func `a link, a pipe or a folder with a profile's name blocks the export`() throws {
        let folder = try Folder()
        try #require(symlink("/no/such/file", "\(folder.root)/generic.yaml") == 0)
        try #require(mkfifo("\(folder.root)/korg-volca.yaml", 0o600) == 0)
        try #require(mkdir("\(folder.root)/roland-tr-8s.yaml", 0o700) == 0)
        #expect(refusal(to: folder.root)?.hasPrefix("nothing is written: generic.yaml, korg-volca.yaml") == true)
        #expect(try Folder.names(in: folder.root).count == 3)
    }

    @Test func `an impossible folder is reported`() throws {
        let folder = try Folder()
        try folder.write("file", "")
        #expect(refusal(to: "\(folder.root)/file") == "\(folder.root)/file cannot be written: Not a directory")
        let missing = "\(folder.root)/no/such"
        #expect(refusal(to: missing) == "\(missing) cannot be written: No such file or directory")
    }

    private func refusal(to folder: String) -> String? {
        do throws(ExportError) {
            _ = try BuiltInProfile.export(to: folder)
            return nil
        } catch {
            return error.description
        }
    }
}
