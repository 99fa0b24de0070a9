//! Magic numbers of well-known formats.

use super::share;

/// A magic number: bytes at an offset.
struct Magic {
    offset: usize,
    bytes: &'static [u8],
    kind: &'static str,
}

const fn at(offset: usize, bytes: &'static [u8], kind: &'static str) -> Magic {
    Magic { offset, bytes, kind }
}

/// The first row that matches counts.
const MAGIC_NUMBERS: &[Magic] = &[
    at(0, b"\x7fELF", "ELF program"),
    at(0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    at(0, b"\xff\xd8\xff", "JPEG image"),
    at(0, b"GIF87a", "GIF image"),
    at(0, b"GIF89a", "GIF image"),
    at(8, b"WEBP", "WebP image"),
    at(8, b"WAVE", "WAV audio"),
    at(8, b"AVI ", "AVI video"),
    at(4, b"ftypavif", "AVIF image"),
    at(4, b"ftypheic", "HEIF image"),
    at(4, b"ftyp", "MP4 video"),
    at(0, b"II*\0", "TIFF image"),
    at(0, b"MM\0*", "TIFF image"),
    at(0, b"\0\0\x01\0", "icon"),
    at(0, b"8BPS", "Photoshop image"),
    at(0, b"\x1f\x8b\x08", "gzip data"),
    at(0, b"\x28\xb5\x2f\xfd", "zstd data"),
    at(0, b"\xfd7zXZ\0", "xz data"),
    at(0, b"BZh", "bzip2 data"),
    at(0, b"\x04\x22\x4d\x18", "lz4 data"),
    at(0, b"PK\x03\x04", "zip archive"),
    at(0, b"PK\x05\x06", "zip archive"),
    at(0, b"7z\xbc\xaf\x27\x1c", "7z archive"),
    at(0, b"Rar!\x1a\x07", "rar archive"),
    at(257, b"ustar", "tar archive"),
    at(0, b"!<arch>\n", "ar archive"),
    at(0, b"\xed\xab\xee\xdb", "RPM package"),
    at(0, b"%PDF-", "PDF document"),
    at(0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office document"),
    at(0, b"SQLite format 3\0", "SQLite database"),
    at(0, b"\0asm", "WebAssembly module"),
    at(0, b"BC\xc0\xde", "LLVM bitcode"),
    at(0, b"\xca\xfe\xba\xbe", "Java class"),
    at(0, b"\xcf\xfa\xed\xfe", "Mach-O program"),
    at(0, b"\xce\xfa\xed\xfe", "Mach-O program"),
    at(0, b"MZ", "Windows program"),
    at(0, b"PACK\0\0\0", "git pack"),
    at(0, b"\xfftOc", "git pack index"),
    at(0, b"DIRC\0\0\0", "git index"),
    at(0, b"OggS\0", "Ogg media"),
    at(0, b"fLaC\0", "FLAC audio"),
    at(0, b"ID3", "MP3 audio"),
    at(0, b"\x1a\x45\xdf\xa3", "Matroska video"),
    at(0, b"wOF2", "WOFF2 font"),
    at(0, b"wOFF", "WOFF font"),
    at(0, b"OTTO\0", "OpenType font"),
    at(0, b"\0\x01\0\0\0", "TrueType font"),
    at(0, b"PAR1", "Parquet file"),
    at(0, b"\x89HDF\r\n\x1a\n", "HDF5 file"),
    at(0, b"\x93NUMPY", "NumPy array"),
    at(0, b"GGUF", "GGUF model"),
    at(0, b"\xa1\xb2\xc3\xd4", "packet capture"),
    at(0, b"\xd4\xc3\xb2\xa1", "packet capture"),
];

/// The format of a stream that begins with this sample. If the magic number is plain letters, the sample must also
/// contain bytes that text doesn't have, and many of them if it has less than five letters: "GIF89a is a format" is
/// text, and so is the first line of a PDF.
pub(super) fn kind(sample: &[u8]) -> Option<&'static str> {
    MAGIC_NUMBERS.iter().find(|magic| matches(magic, sample)).map(|magic| magic.kind)
}

fn matches(magic: &Magic, sample: &[u8]) -> bool {
    let starts = sample.get(magic.offset..).is_some_and(|rest| rest.starts_with(magic.bytes));
    starts
        && (share::has_any(magic.bytes)
            || if magic.bytes.len() < 5 { share::is_binary(sample) } else { share::has_any(sample) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found() {
        for magic in MAGIC_NUMBERS {
            let mut sample = vec![0xff; magic.offset];
            sample.extend(magic.bytes);
            sample.extend(b"\0\0\x01\x02");
            assert!(kind(&sample).is_some(), "{}", magic.kind);
            if magic.offset == 0 {
                assert_eq!(kind(&sample), Some(magic.kind), "a row before hides this one");
            }
        }
    }

    #[test]
    fn text_that_begins_with_a_magic_number_is_text() {
        for text in [
            "GIF89a is a format\n",
            "%PDF-1.4\n",
            "MZ\n",
            "BZh is bzip2",
            "ID3 tags",
            "PAR1",
            "8BPS",
            "MZ, caf\u{1}e or not, is text",
        ] {
            assert_eq!(kind(text.as_bytes()), None, "{text}");
        }
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n"), Some("PNG image"));
        assert_eq!(kind(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), Some("PDF document"));
    }
}
