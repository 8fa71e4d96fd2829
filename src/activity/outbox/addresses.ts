import type { Database, Transaction } from '#platform/database.ts'

/**
 * Payloads may be written before the public address of the server is known: a start records pushes before it binds a listener, and some
 * nodes have none. Until then URLs begin with a character that no text in the database can contain. The address is filled in when the
 * payload is stored, or before the first attempt; after that it stays, so that all attempts of a delivery send the same bytes.
 */
export const unknownAddress = '\0://\0'

const known = new WeakMap<Database, () => string>()

/** Payloads stored through `db` get this address once it is known. */
export function knowAddress(db: Database, web: () => string) {
  known.set(db, web)
}

/** Fills in the address if it is known. */
export function addressed(db: Transaction, body: string) {
  const web = known.get(db.home)?.()
  return web ? fillIn(body, web) : body
}

/** Replaces the address only at the beginning of a JSON string, so that it never changes text that users wrote. */
export function fillIn(body: string, web: string) {
  const host = web.slice(web.indexOf('://') + 3)
  return body
    .replaceAll('"\\u0000://\\u0000', `"${web}`)
    .replaceAll('"git://\\u0000', `"git://${host}`)
    .replaceAll('"git@\\u0000', `"git@${host.replace(/:\d+$/, '')}`)
}
