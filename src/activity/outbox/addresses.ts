import type { Database, Transaction } from '#platform/database.ts'

/**
 * What is told is written before it is known where this server can be reached: a push may be recorded at a start before a listener is
 * bound, or by a node that has none. Addresses begin with a character that no text in the database can contain, and are filled in
 * when the payload is stored, or before it is sent for the first time. Then they stay, so all attempts of a delivery have the same bytes.
 */
export const unknownAddress = '\0://\0'

const known = new WeakMap<Database, () => string>()

/** Payloads that are stored through `db` from now on get this address, as soon as there is one. */
export function knowAddress(db: Database, web: () => string) {
  known.set(db, web)
}

/** Fills in the address if it is known, so that a delivery has the same bytes whenever it is sent, and by any node. */
export function addressed(db: Transaction, body: string) {
  const web = known.get(db.home)?.()
  return web ? fillIn(body, web) : body
}

/** Fills in where this server is. An address is the beginning of a string, so that what people wrote is never taken for one. */
export function fillIn(body: string, web: string) {
  const host = web.slice(web.indexOf('://') + 3)
  return body
    .replaceAll('"\\u0000://\\u0000', `"${web}`)
    .replaceAll('"git://\\u0000', `"git://${host}`)
    .replaceAll('"git@\\u0000', `"git@${host.replace(/:\d+$/, '')}`)
}
