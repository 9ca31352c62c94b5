import { crc32, deflateRawSync } from 'node:zlib'

/* Zip archives by hand, so that they may lie about themselves. */

export type ZipEntry = {
  readonly name: string
  readonly bytes: Buffer | string
  /** 0 stored, 8 deflated (the default), any other as a number alone. */
  readonly method?: number
  /** Bit 0: encrypted. */
  readonly flags?: number
  /** What the directory says instead of the truth. */
  readonly crc?: number
  readonly size?: number
}

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50

const header = (signature: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  bytes.writeUInt32LE(signature, 0)
  return bytes
}

/** The fields that a local header and the directory have in the same order, from flags to the name's length. */
const common = (entry: ZipEntry, packed: Buffer, into: Buffer, at: number): void => {
  const bytes = Buffer.from(entry.bytes as string)
  into.writeUInt16LE(20, at)
  into.writeUInt16LE(entry.flags ?? 0, at + 2)
  into.writeUInt16LE(entry.method ?? 8, at + 4)
  into.writeUInt32LE(entry.crc ?? crc32(bytes), at + 10)
  into.writeUInt32LE(packed.length, at + 14)
  into.writeUInt32LE(entry.size ?? bytes.length, at + 18)
  into.writeUInt16LE(Buffer.byteLength(entry.name), at + 22)
}

export const zipOf = (...entries: readonly ZipEntry[]): Buffer => {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const bytes = Buffer.from(entry.bytes as string)
    const packed = (entry.method ?? 8) === 8 ? deflateRawSync(bytes) : bytes
    const local = header(LOCAL, 30)
    common(entry, packed, local, 4)
    const central = header(CENTRAL, 46)
    common(entry, packed, central, 6)
    central.writeUInt32LE(offset, 42)
    const name = Buffer.from(entry.name)
    files.push(local, name, packed)
    directory.push(central, name)
    offset += local.length + name.length + packed.length
  }
  const end = header(END, 22)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files, ...directory, end])
}
