import { setImmediate } from 'node:timers/promises'
import type { Viewer } from '#identity/accounts.ts'
import type { Queryable } from '#platform/database.ts'
import type { Html } from '#web/html.ts'
import { type Links, plainReading, type Reading, readMarkdown } from '#web/markdown/render.ts'
import { findAddresses } from './addresses.ts'

/** How many tokens of markup one response formats: about half a second of one core. Later texts are shown unformatted. */
const mostPieces = 100_000

export interface Reader {
  db: Queryable
  /** Names that the viewer may not see are not linked. */
  viewer: Viewer
  /** What `#12` refers to. Without it, names are not linked. */
  repo: { owner_login: string; name: string } | undefined
  /** What links begin with. */
  web: string
}

/** Renders all texts of a response together, so that one query looks up all names. */
export async function renderAll({ db, viewer, repo, web }: Reader, texts: (string | null)[]): Promise<Html[]> {
  const readings: Reading[] = []
  let pieces = 0
  for (const text of texts) {
    const reading = pieces > mostPieces ? plainReading(text ?? '') : await readMarkdown(text ?? '')
    readings.push(reading)
    pieces += reading.pieces
    // A response may have megabytes of text; other requests run in between.
    if ((text?.length ?? 0) > 10_000) await setImmediate()
  }
  const names = readings.flatMap((reading) => reading.names)
  const found: Links = repo ? await findAddresses(db, viewer, repo, names) : {}
  const absolute = (address: string | null | undefined) => address && `${web}${address}`
  const links: Links = {
    userLink: (login) => absolute(found.userLink?.(login)),
    teamLink: (org, slug) => absolute(found.teamLink?.(org, slug)),
    referenceLink: (reference) => absolute(found.referenceLink?.(reference)),
  }
  return readings.map((reading) => reading.write(links))
}
