//! Pictures of pixels, which a page contains as PNG.

use std::io;

use crate::escape::escaped;

/// Grey picture with its title.
///
/// ```
/// use punctual_report::{Page, Picture};
///
/// let picture = Picture::new("A tile", 2, vec![0, 255, 128, 64]);
/// let page = Page::new("Demo").picture(&picture)?.to_html();
/// assert!(page.contains("<figcaption>A tile</figcaption>"));
/// # Ok::<(), punctual_report::svg::FigureError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Picture {
    pub(crate) title: String,
    width: u32,
    /// Pixels in rows from the top; 0: black, 255: white.
    pixels: Vec<u8>,
}

impl Picture {
    /// Creates a picture from rows of `width` pixels, of which 0 is black and 255 white. Pixels after the
    /// last whole row are not shown.
    pub fn new(title: impl Into<String>, width: u32, pixels: Vec<u8>) -> Self {
        Self {
            title: title.into(),
            width,
            pixels,
        }
    }

    /// Returns the picture as a PNG file.
    ///
    /// # Errors
    /// It has no pixels.
    pub fn to_png(&self) -> io::Result<Vec<u8>> {
        let rows = self.pixels.len() as u32 / self.width.max(1);
        let shown = (rows * self.width) as usize;
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, rows);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels[..shown])?;
        writer.finish()?;
        Ok(file)
    }

    /// Returns the picture, whose PNG file this is, as a figure of a page.
    pub(crate) fn to_html(&self, png: &[u8]) -> String {
        let data = data_encoding::BASE64.encode(png);
        let title = escaped(&self.title);
        format!(
            "<figure class=\"picture\">\n<img alt=\"{title}\" src=\"data:image/png;base64,{data}\">\
             <figcaption>{title}</figcaption>\n</figure>\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_survive() {
        let pixels: Vec<u8> = (0..12).map(|pixel| pixel * 20).collect();
        let file = Picture::new("x", 4, [&pixels[..], &[1, 2]].concat())
            .to_png()
            .unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(file)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!((info.width, info.height), (4, 3));
        assert_eq!(decoded, pixels);
    }

    #[test]
    fn without_pixels_there_is_no_file() {
        for (width, pixels) in [(0, vec![1, 2]), (4, Vec::new()), (4, vec![0; 3])] {
            assert!(Picture::new("x", width, pixels).to_png().is_err());
        }
    }
}
