import { firstVersion, type Wire } from '#hosting/wire.ts'

/**
 * What is told is written before it is known where this server can be reached: a push may be recorded at a start before a listener is
 * bound, or by a node that has none. Addresses begin with a sign that no text in the database can hold, and are filled in when they are sent.
 */
const unknown = '\0://\0'
export const unaddressed: Wire = { web: unknown, api: `${unknown}/api/v3`, version: firstVersion, brand: 'github' }

/** Fills in where this server is. An address is the beginning of a string, so that what people wrote is never taken for one. */
export function fillIn(body: string, web: string) {
  const host = web.slice(web.indexOf('://') + 3)
  return body
    .replaceAll('"\\u0000://\\u0000', `"${web}`)
    .replaceAll('"git://\\u0000', `"git://${host}`)
    .replaceAll('"git@\\u0000', `"git@${host.replace(/:\d+$/, '')}`)
}
