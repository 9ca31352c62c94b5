import { createHash } from 'node:crypto'
import { createConnection } from 'mysql2'
import type { DatabaseAddress } from '../functions/store/mysql/connection.ts'

/**
 * A set of rows, whatever their order: their number and the sum of their hashes. Two sets with equal fingerprints are
 * equal to the last row, for a doubled, lost or changed row changes the sum. It shares no code with the handlers.
 */
export class Fingerprint {
  #rows = 0
  readonly #sum = new BigUint64Array(4)

  /** @param line `isrc TAB right_type TAB party_id TAB share with six decimals` */
  add(line: string): void {
    const digest = createHash('sha256').update(line).digest()
    for (let word = 0; word < 4; word += 1) this.#sum[word] = (this.#sum[word] ?? 0n) + digest.readBigUInt64LE(word * 8)
    this.#rows += 1
  }

  get rows(): number {
    return this.#rows
  }

  toString(): string {
    return `${this.#rows} rows, ${[...this.#sum].map((word) => word.toString(16).padStart(16, '0')).join('')}`
  }
}

/** The fingerprint of what one slice holds in MySQL, read row by row on a connection of its own. */
export const sliceFingerprint = (address: DatabaseAddress, distributor: string, month: string): Promise<Fingerprint> =>
  new Promise((resolve, reject) => {
    const fingerprint = new Fingerprint()
    const connection = createConnection({
      host: address.DATABASE_HOST,
      port: address.DATABASE_PORT,
      user: address.DATABASE_USER,
      password: address.DATABASE_PASSWORD ?? '',
      database: address.DATABASE_NAME,
      rowsAsArray: true,
    })
    connection
      .query(
        `select s.isrc, s.right_type, s.party_id, s.share from share_ratio s join distributor d on d.id = s.distributor_id
         where d.code = ? and s.settlement_month = ?`,
        [distributor, `${month}-01`],
      )
      .on('result', (row) => fingerprint.add((row as unknown as string[]).join('\t')))
      .on('error', reject)
      .on('end', () => {
        connection.destroy()
        resolve(fingerprint)
      })
  })
