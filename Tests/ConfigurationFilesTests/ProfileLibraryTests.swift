import Glibc
import Synchronization
import Testing

@testable import ConfigurationFiles

@Suite struct ProfileLibraryTests {
    @Test func `all profiles of all folders are found, and later folders win`() throws {
        let folder = try Folder()
        try folder.write("installed/box.yaml", "version: 1\nname: Installed Box")
        try folder.write("installed/fox.yaml", "version: 1\nname: Fox")
        try folder.write("installed/README.md", "nothing to read")
        try folder.write("own/box.yaml", "version: 1\nname: My Box")
        try folder.write("own/.hidden.yaml", "not for us")
        let library = folder.library("installed", "own", "missing")
        #expect(library.mistakes.isEmpty)
        #expect(library.warnings.isEmpty)
        #expect(library.profiles.map(\.id) == ["box", "fox"])
        #expect(library.profiles.map(\.name) == ["My Box", "Fox"])
    }

    @Test func `a wrong file is reported and left out, the others are used`() throws {
        let folder = try Folder()
        try folder.write("own/bad.yaml", "version: 1\nnmae: Box\nclock: { offset: x }")
        try folder.write("own/good.yaml", "version: 1\nname: Box")
        try folder.write("own/folder.yaml/x", "")
        try folder.write("own/short.yml", "version: 1\nname: Box")
        let library = folder.library("own")
        #expect(library.profiles.map(\.id) == ["good"])
        #expect(
            library.mistakes.map { "\($0)".replacing("\(folder.root)/", with: "") } == [
                "own/bad.yaml:1:1: 'name' is missing; it is what people call the device",
                "own/bad.yaml:2:1: unknown key 'nmae'; did you mean 'name'?",
                "own/bad.yaml:3:18: 'offset' is 'x'; it takes milliseconds from -500 to 500",
                "own/folder.yaml: this is not an ordinary file",
            ])
        #expect(library.warnings == ["\(folder.root)/own/short.yml: not read; rename it to end in .yaml"])
    }

    @Test func `a file wins over the built-in profile of its name, and the others stay`() throws {
        let folder = try Folder()
        try folder.write("own/generic.yaml", "version: 1\nname: My Generic")
        let library = ProfileLibrary(builtIn: BuiltInProfile.all, folders: ["\(folder.root)/own"])
        #expect(library.mistakes.isEmpty)
        #expect(library.profiles.map(\.id) == BuiltInProfile.all.map(\.id))
        #expect(try library.profile(id: "generic").name == "My Generic")
        #expect(try library.profile(id: "generic").file == "\(folder.root)/own/generic.yaml")
        #expect(try library.profile(id: "roland-tr-8s").file == nil)
    }

    @Test func `a file recognizes a device before a built-in profile does`() throws {
        let folder = try Folder()
        try folder.write("own/mine.yaml", "version: 1\nname: Mine\nmatch: ['TR-8S']")
        let library = ProfileLibrary(builtIn: BuiltInProfile.all, folders: ["\(folder.root)/own"])
        #expect(library.profile(portName: "TR-8S MIDI 1", clientName: "TR-8S")?.name == "Mine")
    }

    @Test func `a user's broken profile leaves the installed one in use`() throws {
        let folder = try Folder()
        try folder.write("installed/box.yaml", "version: 1\nname: Box")
        try folder.write("own/box.yaml", "version: 7")
        let library = folder.library("installed", "own")
        #expect(library.profiles.map(\.name) == ["Box"])
        #expect(library.mistakes.count == 1)
        try folder.write("own/generic.yaml", "version: 7")
        let builtIn = ProfileLibrary(builtIn: BuiltInProfile.all, folders: ["\(folder.root)/own"])
        #expect(try builtIn.profile(id: "generic").name == "Generic")
        #expect(builtIn.mistakes.count == 2)
    }

    @Test func `a pipe, a device and a broken link are no profiles and cause no wait`() throws {
        let folder = try Folder()
        try folder.write("own/good.yaml", "version: 1\nname: Box")
        try #require(mkfifo("\(folder.root)/own/pipe.yaml", 0o600) == 0)
        for (name, target) in [("device", "/dev/zero"), ("nothing", "/no/such/file"), ("linked", "good.yaml")] {
            try #require(symlink(target, "\(folder.root)/own/\(name).yaml") == 0)
        }
        let library = ProfileLibrary(folders: ["\(folder.root)/own"], followsLinks: true)
        #expect(library.profiles.map(\.id) == ["good", "linked"])
        #expect(
            library.mistakes.map(\.message) == [
                "this is not an ordinary file", "this is a link to a file that does not exist",
                "this is not an ordinary file",
            ])
    }

    @Test func `root follows no link out of a folder, and others do`() throws {
        let folder = try Folder()
        try folder.write("home/secret.yaml", "version: 1\nname: Secret")
        try folder.write("own/good.yaml", "version: 1\nname: Box")
        for (name, target) in [("away", "../home/secret.yaml"), ("inside", "good.yaml")] {
            try #require(symlink(target, "\(folder.root)/own/\(name).yaml") == 0)
        }
        try #require(symlink("own", "\(folder.root)/linked") == 0)
        for name in ["own", "own/", "linked"] {
            func library(followsLinks: Bool) -> ProfileLibrary {
                ProfileLibrary(folders: ["\(folder.root)/\(name)"], followsLinks: followsLinks)
            }
            let root = library(followsLinks: false)
            #expect(root.profiles.map(\.id) == ["good", "inside"])
            #expect(
                root.mistakes.map(\.message) == [
                    "this is a link out of the folder, which root does not follow; put the file itself here"
                ])
            #expect(library(followsLinks: true).profiles.map(\.id) == ["away", "good", "inside"])
        }
    }

    private final class End: Sendable {
        let isReached = Atomic(false)
    }

    @Test func `root follows no link that is made while it looks`() async throws {
        let folder = try Folder()
        try folder.write("home/secret.yaml", "version: 1\nname: Secret")
        try folder.write("own/good.yaml", "version: 1\nname: Box")
        let root = folder.root
        let end = End()
        await withTaskGroup { group in
            group.addTask {
                while !end.isReached.load(ordering: .relaxed) {
                    for target in ["good.yaml", "../home/secret.yaml"] {
                        _ = symlink(target, "\(root)/next")
                        rename("\(root)/next", "\(root)/own/link.yaml")
                    }
                }
            }
            var (inside, outside) = (0, 0)
            while inside < 1_000 || outside < 1_000 {
                do throws(Mistakes) {
                    let text = try TextFile.bytes(of: "\(root)/own/link.yaml", within: "\(root)/own")
                    #expect(text.count == "version: 1\nname: Box".utf8.count)
                    inside += 1
                } catch {
                    outside += error.description.contains("out of the folder") ? 1 : 0
                }
                await Task.yield()
            }
            end.isReached.store(true, ordering: .relaxed)
        }
    }

    @Test func `a file in place of a folder is reported`() throws {
        let folder = try Folder()
        try folder.write("own", "version: 1")
        #expect(folder.library("own").mistakes.map(\.message) == ["profiles are kept in a folder; this is a file"])
    }

    @Test func `a profile recognizes its device by port, then client, then both`() throws {
        let folder = try Folder()
        try folder.write("installed/a.yaml", "version: 1\nname: A\nmatch: [Deluge, 'Box:Box MIDI 2']")
        try folder.write("installed/b.yaml", "version: 1\nname: B\nmatch: ['Deluge MIDI 1', 'model:samples']")
        let library = folder.library("installed")
        func found(_ port: String, _ client: String) -> String? {
            library.profile(portName: port, clientName: client)?.name
        }
        #expect(found("  DELUGE MIDI 1   ", "Deluge") == "B")
        #expect(found("Deluge MIDI 3", "Deluge ") == "A")
        #expect(found("Box MIDI 2", "box") == "A")
        #expect(found("Box MIDI 1", "box") == nil)
        #expect(found("Model:Samples", "Elektron") == "B")
        #expect(found("Deluge MIDI 11", "Del") == nil)
        #expect(found("", "") == nil)
    }

    @Test func `a user's profile recognizes a device before the installed one does`() throws {
        let folder = try Folder()
        try folder.write("installed/a.yaml", "version: 1\nname: A\nmatch: ['Deluge MIDI 1']")
        try folder.write("own/z.yaml", "version: 1\nname: Z\nmatch: [Deluge]")
        let library = folder.library("installed", "own")
        #expect(library.profile(portName: "Deluge MIDI 1", clientName: "Deluge")?.name == "Z")
        #expect(library.warnings.isEmpty)
    }

    @Test func `two profiles of one folder for the same name cause a warning`() throws {
        let folder = try Folder()
        try folder.write("own/a.yaml", "version: 1\nname: A\nmatch: [Box]")
        try folder.write("own/b.yaml", "version: 1\nname: B\nmatch: ['box ']")
        let library = folder.library("own")
        #expect(library.profile(portName: "Box", clientName: "")?.name == "A")
        #expect(library.warnings == ["the profiles 'a' and 'b' both match 'box'; the first is used"])
    }

    @Test func `for an unknown ID the message suggests a similar one`() throws {
        let folder = try Folder()
        try folder.write("own/roland-tr-8s.yaml", "version: 1\nname: TR-8S")
        let library = folder.library("own")
        #expect(try library.profile(id: "roland-tr-8s").name == "TR-8S")
        func complaint(_ id: String) -> String? {
            do throws(UnknownProfile) {
                _ = try library.profile(id: id)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(complaint("roland-tr8s") == "there is no profile 'roland-tr8s'; did you mean 'roland-tr-8s'?")
        #expect(complaint("moog") == "there is no profile 'moog'; 'tactus profiles list' names them all")
    }
}
