import { sendProbe } from '#importer/probe-http.ts'
import type { Network, Origin } from '#importer/source.ts'

/** Without this body, the server does not send the addresses of its revisions. */
const body =
  '<?xml version="1.0" encoding="utf-8"?><D:options xmlns:D="DAV:"><D:activity-collection-set></D:activity-collection-set></D:options>'

/** The capabilities of a server, as headers of the answer. */
export function askOptions(network: Network, url: string, { username, password }: Origin) {
  return sendProbe(network, url, { method: 'OPTIONS', headers: { 'content-type': 'text/xml' }, body, username, password })
}
