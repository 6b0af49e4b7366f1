import Essentials
import Glibc
import Testing

@Suite
struct EssentialsTests {
    @Test(arguments: [
        (128.5, 2, "128.50"), (0.005, 2, "0.01"), (2.675, 2, "2.67"), (-0.001, 2, "-0.00"),
        (1e15, 0, "1000000000000000"),
        (0.5, 0, "0"), (1.5, 0, "2"), (.infinity, 1, "inf"),
    ])
    func `a number has as many decimals as asked for`(value: Double, decimals: Int, text: String) {
        #expect(fixed(value, decimals) == text)
    }

    @Test
    func `the largest number is written in full`() {
        #expect(fixed(.greatestFiniteMagnitude, 3).count == 313)
        #expect(fixed(1.25, 1, isSigned: true) == "+1.2" && fixed(-1, 1, isSigned: true) == "-1.0")
    }

    @Test(arguments: [(4.0, "4"), (-2.5, "-2.5"), (0.25, "0.25"), (100, "100"), (0.001, "0"), (33.333, "33.33")])
    func `unnecessary decimals are left out`(value: Double, text: String) {
        #expect(shortest(value, atMost: 2) == text)
    }

    @Test
    func `whole numbers get leading zeros`() {
        #expect(digits(7, 2) == "07" && digits(12, 2) == "12" && digits(123, 2) == "123" && digits(0, 3) == "000")
    }

    @Test(arguments: [("drums", "drums"), (" \t TR-8S MIDI 1 \n", "TR-8S MIDI 1"), (" \n ", ""), ("", "")])
    func `white space is removed at both ends and kept inside`(text: String, trimmed: String) {
        #expect(text.trimmed == trimmed && text.dropFirst(0).trimmed == trimmed)
    }

    @Test(arguments: [
        ("drums", "drums"), ("TR-8S", "TR%2D8S"), ("a/b c", "a%2Fb%20c"), ("ü", "%C3%BC"), ("\n", "%0A"), ("", ""),
    ])
    func `a name is encoded for a path and decoded again`(name: String, encoded: String) {
        #expect(name.percentEncoded == encoded)
        #expect(encoded.percentDecoded == name)
    }

    @Test(arguments: ["%", "%4", "%4g", "%+4", "%-1", "%FF", "%C3"])
    func `invalid escapes are rejected`(text: String) {
        #expect(text.percentDecoded == nil)
    }

    @Test(arguments: [("/a/b", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b.c", "a", "b.c"), ("/", "/", "")])
    func `a path has a folder and a name`(path: String, folder: String, name: String) {
        #expect(Files.folder(of: path) == folder && Files.name(of: path) == name)
    }

    @Test
    func `links are followed, even to missing files`() throws {
        var template = Array("/tmp/tactus-files-XXXXXX".utf8CString)
        let folder = String(cString: try #require(mkdtemp(&template)))
        defer {
            for name in Files.names(in: folder) { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        try #require(symlink("target", "\(folder)/link") == 0)
        #expect(Files.link("\(folder)/link") == "target" && !Files.exists("\(folder)/link"))
        #expect(Files.target(of: "\(folder)/link") == "\(folder)/target")
        #expect(Files.target(of: "\(folder)/nothing") == "\(folder)/nothing")
        close(open("\(folder)/target", O_WRONLY | O_CREAT, 0o644))
        #expect(Files.target(of: "\(folder)/link") == Files.target(of: "\(folder)/target"))
        #expect(Files.names(in: folder) == ["link", "target"] && Files.names(in: "\(folder)/link") == [])
        #expect(Files.exists("\(folder)/link") && Files.isFolder(folder) && !Files.isFolder("\(folder)/link"))
    }

    @Test(
        arguments: [
            ("/", .folder), ("/dev/null", .byteStream), ("/proc/self/comm", .other), ("/nothing", nil),
        ] as [(String, Files.Kind?)])
    func `a path leads to a folder, a byte stream, something else, or nowhere`(path: String, kind: Files.Kind?) {
        #expect(Files.kind(of: path) == kind)
    }

    @Test
    func `an open file is identified by its descriptor`() throws {
        let (null, zero) = (open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY))
        defer {
            close(null)
            close(zero)
        }
        let identity = try #require(Files.identity(of: null))
        #expect(identity.split(separator: ":").count == 2 && identity != Files.identity(of: zero))
        #expect(Files.identity(of: -1) == nil)
    }

    @Test
    func `a file is read to its end or to a limit, and an unreadable one gives the reason`() throws {
        #expect(try Files.bytes(of: "/dev/zero", atMost: 100_000).count == 100_000)
        #expect(try Files.bytes(of: "/dev/null").isEmpty)
        #expect(Files.text(of: "/proc/self/comm")?.isEmpty == false)
        let error = #expect(throws: (any Error).self) { try Files.bytes(of: "/nothing") }
        #expect("\(try #require(error))" == "open /nothing: No such file or directory")
    }

    @Test
    func `JSON has sorted keys and unescaped slashes`() throws {
        #expect(try JSON.text(["b": "a/b", "a": "ü\n"]) == #"{"a":"ü\n","b":"a/b"}"#)
        #expect(try JSON.value([Int].self, from: "[1,2]".utf8) == [1, 2])
    }
}
