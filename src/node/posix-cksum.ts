/** The table of CRC-32 with the polynomial of POSIX, most significant bit first. */
const crcTable: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  return crc >>> 0;
});

const step = (crc: number, byte: number): number => ((crc << 8) ^ (crcTable[(crc >>> 24) ^ byte] ?? 0)) >>> 0;

/**
 * What `cksum` prints of these bytes before the name: `CRC SIZE`.
 *
 * @see POSIX.1, cksum: the CRC goes on over the length, its least significant byte first
 * @example
 * posixCksum(Buffer.from('a')) // '1220704766 1'
 */
export function posixCksum(bytes: Uint8Array): string {
  let crc = 0;
  for (const byte of bytes) crc = step(crc, byte);
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256)) crc = step(crc, length % 256);
  return `${~crc >>> 0} ${bytes.length}`;
}
