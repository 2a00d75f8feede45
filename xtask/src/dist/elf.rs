//! Whether a program is linked statically.

/// Whether the kernel has to load an interpreter (`ld.so`) for this program, of 64 bits and little-endian.
pub fn needs_interpreter(program: &[u8]) -> Result<bool, String> {
    const INTERPRETER: u64 = 3;
    let number = |at: usize, octets: usize| {
        let field = program.get(at..at + octets)?;
        let digits = field.iter().rev();
        Some(digits.fold(0, |number, octet| number << 8 | u64::from(*octet)))
    };
    let headers = || {
        let (start, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
        let kinds = (0..count).map(|index| number((start + index * size) as usize, 4));
        kinds.collect::<Option<Vec<_>>>()
    };
    if !program.starts_with(b"\x7fELF\x02\x01") {
        return Err("the program is no ELF file of 64 bits".to_owned());
    }
    let kinds = headers().ok_or("the program's headers are incomplete")?;
    Ok(kinds.contains(&INTERPRETER))
}
