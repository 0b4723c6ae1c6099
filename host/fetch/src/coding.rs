//! Content codings: gzip, deflate, br, zstd.
//!
//! Decision: we decompress ourselves, in pushes, instead of letting the HTTP library do it. So the cap sees every decompressed byte
//! before it is kept, time-outs see the bytes of the wire, a stream that does not end is told from one that is broken, and what
//! browsers forgive is forgiven (raw deflate, bytes after the end of gzip). A push decompresses on the spot: a bomb costs the
//! task at most the time for `limit` bytes.

use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use std::fmt;
use std::io::{self, ErrorKind, Write};
use zstd::stream::raw::DParameter;

/// Windows above 8 MiB are not for the web (RFC 9659).
const ZSTD_WINDOW_LOG: u32 = 23;

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "brotli",
            Self::Zstd => "zstd",
        })
    }
}

impl Coding {
    /// What the header says. Words that are no codings (servers put charsets there) are ignored, as browsers do.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>, String> {
        let mut found = None;
        let values = headers.get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        for word in values.flat_map(|value| value.split(',')).map(str::trim) {
            let coding = match word {
                _ if word.eq_ignore_ascii_case("gzip") || word.eq_ignore_ascii_case("x-gzip") => Self::Gzip,
                _ if word.eq_ignore_ascii_case("deflate") => Self::Deflate,
                _ if word.eq_ignore_ascii_case("br") => Self::Brotli,
                _ if word.eq_ignore_ascii_case("zstd") => Self::Zstd,
                _ if ["compress", "x-compress", "dcb", "dcz"].iter().any(|other| word.eq_ignore_ascii_case(other)) => {
                    return Err(format!("it is in the coding `{word}`, which nobody asked for"));
                }
                _ => continue,
            };
            if found.replace(coding).is_some() {
                return Err("it is compressed more than once".to_owned());
            }
        }
        Ok(found)
    }
}

/// Why there is no body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    /// It is larger than allowed.
    Full,
    /// It ends before its end.
    Cut,
    /// It is not what it should be.
    Broken(String),
}

/// A vector that takes so much and no more.
#[derive(Default)]
struct Sink {
    bytes: Vec<u8>,
    limit: usize,
    full: bool,
}

impl Write for Sink {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if more.len() > self.limit - self.bytes.len() {
            self.full = true;
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum State {
    Gzip(Box<GzDecoder<Sink>>),
    Zlib(Box<ZlibDecoder<Sink>>),
    RawDeflate(Box<DeflateDecoder<Sink>>),
    Brotli(Box<brotli_decompressor::DecompressorWriter<Sink>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Sink>>),
    /// Past the end; what still comes is ignored.
    Ended(Sink),
}

/// Decompresses what is pushed into it.
pub(crate) struct Decoder(State);

impl Decoder {
    /// `first` is the body's first byte: it tells zlib from the raw deflate that many servers send instead.
    pub(crate) fn new(coding: Coding, first: u8, limit: usize, expected: usize) -> Result<Self, DecodeError> {
        let sink = Sink { bytes: Vec::with_capacity(expected.min(limit)), limit, full: false };
        Ok(Self(match coding {
            Coding::Gzip => State::Gzip(Box::new(GzDecoder::new(sink))),
            Coding::Deflate if first & 0x8f == 0x08 => State::Zlib(Box::new(ZlibDecoder::new(sink))),
            Coding::Deflate => State::RawDeflate(Box::new(DeflateDecoder::new(sink))),
            Coding::Brotli => State::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(sink, 16 << 10))),
            Coding::Zstd => {
                let mut decoder = zstd::stream::raw::Decoder::new().map_err(broken)?;
                decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).map_err(broken)?;
                State::Zstd(Box::new(zstd::stream::write::Decoder::with_decoder(sink, decoder)))
            }
        }))
    }

    /// Takes the next bytes of the wire.
    pub(crate) fn push(&mut self, mut input: &[u8]) -> Result<(), DecodeError> {
        while !input.is_empty() {
            let written = match &mut self.0 {
                State::Gzip(decoder) => decoder.write(input),
                State::Zlib(decoder) => decoder.write(input),
                State::RawDeflate(decoder) => decoder.write(input),
                State::Brotli(decoder) => decoder.write(input),
                State::Zstd(decoder) => decoder.write(input),
                State::Ended(_) => return Ok(()),
            };
            match written {
                // A decoder that takes nothing is at its end.
                Ok(0) => self.end_stream(input[0])?,
                Ok(taken) => input = &input[taken..],
                Err(error) => return Err(self.failure(error)),
            }
        }
        Ok(())
    }

    /// The whole body, once all was pushed.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, DecodeError> {
        // A gzip decoder that would take another byte has not seen its trailer; when finished, it calls that corrupt.
        if let State::Gzip(decoder) = &mut self.0 {
            match decoder.write(&[0]) {
                Ok(0) => {}
                Err(error) if error.kind() == ErrorKind::FileTooLarge => return Err(DecodeError::Full),
                _ => return Err(DecodeError::Cut),
            }
        }
        self.take_sink().map(|sink| sink.bytes)
    }

    /// A gzip stream may be followed by another one. After all else comes nothing that matters.
    fn end_stream(&mut self, next: u8) -> Result<(), DecodeError> {
        let another = matches!(self.0, State::Gzip(_)) && next == 0x1f;
        let sink = self.take_sink()?;
        self.0 = if another { State::Gzip(Box::new(GzDecoder::new(sink))) } else { State::Ended(sink) };
        Ok(())
    }

    fn take_sink(&mut self) -> Result<Sink, DecodeError> {
        let ended = match std::mem::replace(&mut self.0, State::Ended(Sink::default())) {
            State::Gzip(decoder) => decoder.finish(),
            State::Zlib(decoder) => decoder.finish(),
            State::RawDeflate(decoder) => decoder.finish(),
            State::Brotli(decoder) => match decoder.into_inner() {
                Ok(sink) => Ok(sink),
                Err(sink) if sink.full => return Err(DecodeError::Full),
                Err(_) => Err(ErrorKind::UnexpectedEof.into()),
            },
            State::Zstd(decoder) => decoder.finish(),
            State::Ended(sink) => Ok(sink),
        };
        ended.map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => DecodeError::Full,
            ErrorKind::UnexpectedEof => DecodeError::Cut,
            _ => broken(error),
        })
    }

    fn failure(&self, error: io::Error) -> DecodeError {
        let sink = match &self.0 {
            State::Gzip(decoder) => decoder.get_ref(),
            State::Zlib(decoder) => decoder.get_ref(),
            State::RawDeflate(decoder) => decoder.get_ref(),
            State::Brotli(decoder) => decoder.get_ref(),
            State::Zstd(decoder) => decoder.get_ref(),
            State::Ended(sink) => sink,
        };
        if sink.full { DecodeError::Full } else { broken(error) }
    }
}

fn broken(error: io::Error) -> DecodeError {
    DecodeError::Broken(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    fn text() -> Vec<u8> {
        (0..5_000_u32).flat_map(|number| format!("line {number} of {}\n", number * 7919).into_bytes()).collect()
    }

    fn packed(coding: Coding, text: &[u8]) -> Vec<u8> {
        match coding {
            Coding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(text).and_then(|()| encoder.finish()).expect("gzip")
            }
            Coding::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(text).and_then(|()| encoder.finish()).expect("zlib")
            }
            Coding::Brotli => {
                let mut packed = Vec::new();
                brotli::BrotliCompress(&mut &text[..], &mut packed, &brotli::enc::BrotliEncoderParams::default())
                    .expect("brotli");
                packed
            }
            Coding::Zstd => zstd::encode_all(text, 3).expect("zstd"),
        }
    }

    fn unpack(coding: Coding, packed: &[u8], piece: usize, limit: usize) -> Result<Vec<u8>, DecodeError> {
        let mut decoder = Decoder::new(coding, packed[0], limit, 0)?;
        for piece in packed.chunks(piece) {
            decoder.push(piece)?;
        }
        decoder.finish()
    }

    const ALL: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];

    #[test]
    fn every_coding_is_decoded_however_it_is_cut_into_pieces() {
        for coding in ALL {
            let packed = packed(coding, &text());
            for piece in [1, 7, 4_096, usize::MAX] {
                assert_eq!(unpack(coding, &packed, piece, 1 << 20).as_ref(), Ok(&text()), "{coding} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn the_limit_is_one_of_decompressed_bytes_to_the_byte() {
        let length = text().len();
        for coding in ALL {
            let packed = packed(coding, &text());
            assert!(unpack(coding, &packed, 1_000, length).is_ok(), "{coding}");
            assert_eq!(unpack(coding, &packed, 1_000, length - 1), Err(DecodeError::Full), "{coding}");
        }
    }

    #[test]
    fn a_stream_without_its_end_is_cut_wherever_it_was_cut() {
        for coding in ALL {
            let packed = packed(coding, &text());
            for kept in [1, 2, packed.len() / 2, packed.len() - 9, packed.len() - 1] {
                assert_eq!(unpack(coding, &packed[..kept], 64, 1 << 20), Err(DecodeError::Cut), "{coding} cut at {kept}");
            }
        }
    }

    #[test]
    fn what_is_not_compressed_is_broken() {
        for coding in ALL {
            let error = unpack(coding, b"<!doctype html><title>plain</title>", 1_000, 1 << 20).expect_err("broken");
            assert!(matches!(error, DecodeError::Broken(_)), "{coding}: {error:?}");
        }
        let mut flipped = packed(Coding::Gzip, &text());
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0x55;
        assert!(matches!(unpack(Coding::Gzip, &flipped, 1_000, 1 << 20), Err(DecodeError::Broken(_))));
    }

    #[test]
    fn what_browsers_forgive_is_forgiven() {
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        let raw = raw.write_all(&text()).and_then(|()| raw.finish()).expect("deflate");
        assert_eq!(unpack(Coding::Deflate, &raw, 100, 1 << 20), Ok(text()));

        let one = packed(Coding::Gzip, b"one ");
        let two = packed(Coding::Gzip, b"two");
        for piece in [1, one.len(), 1_000] {
            assert_eq!(unpack(Coding::Gzip, &[&one[..], &two].concat(), piece, 100), Ok(b"one two".to_vec()));
            assert_eq!(unpack(Coding::Gzip, &[&two[..], b"\r\n\0garbage"].concat(), piece, 100), Ok(b"two".to_vec()));
        }
    }

    #[test]
    fn the_header_is_read_as_servers_write_it() {
        let of = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, reqwest::header::HeaderValue::from_static(value));
            }
            Coding::of(&headers)
        };
        for (value, coding) in [
            ("gzip", Some(Coding::Gzip)),
            ("X-GZip", Some(Coding::Gzip)),
            ("identity, br", Some(Coding::Brotli)),
            ("deflate", Some(Coding::Deflate)),
            (" zstd ", Some(Coding::Zstd)),
            ("", None),
            ("utf-8", None),
            ("none", None),
        ] {
            assert_eq!(of(&[value]), Ok(coding), "{value}");
        }
        assert!(of(&["compress"]).is_err() && of(&["gzip, br"]).is_err() && of(&["gzip", "gzip"]).is_err());
        assert_eq!(of(&[]), Ok(None));
    }
}
