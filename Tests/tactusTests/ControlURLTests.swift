import Testing

@testable import tactus

@Suite
struct ControlURLTests {
    @Test(arguments: [
        ("http://127.0.0.1:8808", "127.0.0.1", 8808, ""),
        ("http://raspberrypi.local:8808/", "raspberrypi.local", 8808, ""),
        ("http://[::1]:8808", "::1", 8808, ""), ("http://studio", "studio", 80, ""),
        ("HTTP://Studio:1/a/b//", "studio", 1, "/a/b"),
    ])
    func `a URL gives host, port and path`(text: String, host: String, port: Int, path: String) throws {
        let url = try ControlURL(argument: text)
        #expect(url.host == host && url.port == port && url.path == path)
        #expect(!url.description.hasSuffix("/") && text.hasPrefix(url.description))
    }

    @Test(arguments: [
        "", "http://", "http:///", "127.0.0.1:8808", "ftp://studio", "http://:8808", "http://studio:0",
        "http://studio:65536", "http://studio:x", "http://me@studio", "http://me:secret@studio", "http://studio/?a=b",
        "http://studio/#top", "http://stu dio", "http://studio\r\nX: y", "http://studio/a b", "http://[::1",
        "http://[studio]", "http://ümlaut",
    ])
    func `an invalid URL is reported with a valid example`(text: String) {
        #expect(throws: BadArgument("a URL looks like http://127.0.0.1:8808")) { try ControlURL(argument: text) }
    }

    @Test
    func `TLS is refused by name`() {
        #expect(throws: BadArgument("a gateway speaks plain HTTP; use a URL like http://127.0.0.1:8808")) {
            try ControlURL(argument: "https://studio:8808")
        }
    }
}
