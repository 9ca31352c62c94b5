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

/**
 * The fingerprint of what one slice holds in MySQL, read row by row on a connection of its own: of the set that readers see,
 * or else of the slot that its newest job wrote, or that an older system filled.
 */
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
         left join active_set a on a.distributor_id = d.id and a.settlement_month = s.settlement_month
         where d.code = ? and s.settlement_month = ? and s.isrc > '' and s.isrc < '['
           and s.slot = coalesce(a.slot, (select j.slot from job j where j.distributor_id = d.id
             and j.settlement_month = ? order by j.fence desc limit 1), 0)`,
        [distributor, `${month}-01`, `${month}-01`],
      )
      .on('result', (row) => fingerprint.add((row as unknown as string[]).join('\t')))
      .on('error', reject)
      .on('end', () => {
        connection.destroy()
        resolve(fingerprint)
      })
  })
